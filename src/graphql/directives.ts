import {
  DirectiveLocation,
  GraphQLDirective,
  GraphQLEnumType,
  GraphQLNonNull,
  GraphQLSchema,
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

const STABILITY = new GraphQLDirective({
  name: 'stability',
  description: 'May still change; what bears no such mark is stable.',
  locations: [DirectiveLocation.FIELD_DEFINITION, DirectiveLocation.INPUT_FIELD_DEFINITION],
  args: { level: { type: new GraphQLNonNull(STABILITY_LEVEL), description: 'How settled it is.' } },
});

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
  const directives = [...specifiedDirectives, RATE_LIMIT, requiresScope, STABILITY, ...COST_DIRECTIVES];
  return new GraphQLSchema({ ...schema.toConfig(), directives });
}
