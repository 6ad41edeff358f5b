import {
  DirectiveLocation,
  GraphQLDirective,
  GraphQLEnumType,
  GraphQLNonNull,
  GraphQLSchema,
  GraphQLString,
  isEnumType,
  specifiedDirectives,
} from 'graphql';
import { Directive } from 'type-graphql';
import type { Scope } from '../database/generated/enums';
import { COST_DIRECTIVES } from './cost-directives';

/** Marks a root field that counts as one request of the caller's plan. */
export const Counted = () => Directive('@rateLimit');

/** Marks a root field that only callers with this scope may use. */
export const Requires = (scope: Scope) => Directive(`@requiresScope(scope: ${scope})`);

/** Marks what may still change (specification, section 9). */
export const Stability = (level: 'EXPERIMENTAL' | 'BETA') => Directive(`@stability(level: ${level})`);

const RATE_LIMIT = new GraphQLDirective({
  name: 'rateLimit',
  description:
    "Counts as one request of the caller's plan. An operation is charged for all such fields at once.",
  locations: [DirectiveLocation.FIELD_DEFINITION],
});

const STABILITY_LEVEL = new GraphQLEnumType({
  name: 'StabilityLevel',
  description: 'How settled something is.',
  values: {
    EXPERIMENTAL: { description: 'May change or go away at any time.' },
    BETA: { description: 'Nearly settled; may still change after notice.' },
  },
});

/** Where @deprecated may stand too. */
const ELEMENTS = [
  DirectiveLocation.FIELD_DEFINITION,
  DirectiveLocation.ARGUMENT_DEFINITION,
  DirectiveLocation.INPUT_FIELD_DEFINITION,
  DirectiveLocation.ENUM_VALUE,
];

const STABILITY = new GraphQLDirective({
  name: 'stability',
  description: 'May still change; what bears no such mark is stable.',
  locations: ELEMENTS,
  args: { level: { type: new GraphQLNonNull(STABILITY_LEVEL), description: 'How settled it is.' } },
});

const SUNSET = new GraphQLDirective({
  name: 'sunset',
  description: 'Beside @deprecated: since when it is, until when it is there, and what takes its place.',
  locations: ELEMENTS,
  args: {
    since: { type: new GraphQLNonNull(GraphQLString), description: 'A day, such as 2026-11-01.' },
    on: { type: GraphQLString, description: 'The day from which on it may be gone.' },
    replacement: { type: GraphQLString, description: 'A schema coordinate, such as Pet.category.' },
  },
});

/** The definitions of the markers that say how long something will be as it is. */
const LIFECYCLE_DIRECTIVES = [STABILITY, SUNSET];

/** The schema with the definitions of the directives that its fields bear. */
export function defineDirectives(schema: GraphQLSchema): GraphQLSchema {
  const scope = schema.getType('Scope');
  if (!isEnumType(scope)) throw new Error('The schema has no enum Scope');
  const requiresScope = new GraphQLDirective({
    name: 'requiresScope',
    description: "The scope that a caller's key must have. WRITE includes READ, ADMIN includes both.",
    locations: [DirectiveLocation.FIELD_DEFINITION],
    args: { scope: { type: new GraphQLNonNull(scope), description: 'The least scope that is enough.' } },
  });
  const directives = [
    ...specifiedDirectives,
    RATE_LIMIT,
    requiresScope,
    ...LIFECYCLE_DIRECTIVES,
    ...COST_DIRECTIVES,
  ];
  return new GraphQLSchema({ ...schema.toConfig(), directives });
}
