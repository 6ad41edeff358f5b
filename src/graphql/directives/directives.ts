import {
  DirectiveLocation,
  GraphQLDirective,
  GraphQLEnumType,
  type GraphQLField,
  GraphQLNonNull,
  GraphQLSchema,
  GraphQLString,
  isEnumType,
  Kind,
  specifiedDirectives,
} from 'graphql';
import { Directive } from 'type-graphql';
import { COST_DIRECTIVES } from '../../cost/cost-directives';
import type { Scope } from '../../database/generated/enums';
import { ERRORS_DIRECTIVE } from '../../errors/errors-directive';

/** Marks a root field that counts as one request against the caller's plan. */
export const Counted = () => Directive('@rateLimit');

/** Marks a root field that requires this scope. */
export const Requires = (scope: Scope) => Directive(`@requiresScope(scope: ${scope})`);

/** Marks an element that may still change (specification, section 9). */
export const Stability = (level: 'EXPERIMENTAL' | 'BETA') => Directive(`@stability(level: ${level})`);

const RATE_LIMIT = new GraphQLDirective({
  name: 'rateLimit',
  description: "Counts as one request against the caller's plan. An operation is charged for all such fields at once.",
  locations: [DirectiveLocation.FIELD_DEFINITION],
});

const STABILITY_LEVEL = new GraphQLEnumType({
  name: 'StabilityLevel',
  description: 'How stable an element is.',
  values: {
    EXPERIMENTAL: { description: 'May change or be removed at any time.' },
    BETA: { description: 'Nearly stable; may still change after notice.' },
  },
});

/** The same locations as @deprecated. */
const ELEMENTS = [
  DirectiveLocation.FIELD_DEFINITION,
  DirectiveLocation.ARGUMENT_DEFINITION,
  DirectiveLocation.INPUT_FIELD_DEFINITION,
  DirectiveLocation.ENUM_VALUE,
];

const STABILITY = new GraphQLDirective({
  name: 'stability',
  description: 'Marks an element that may still change. Unmarked elements are stable.',
  locations: ELEMENTS,
  args: { level: { type: new GraphQLNonNull(STABILITY_LEVEL), description: 'How stable it is.' } },
});

const SUNSET = new GraphQLDirective({
  name: 'sunset',
  description: 'Accompanies @deprecated: since when, when it may be removed, and what replaces it.',
  locations: ELEMENTS,
  args: {
    since: { type: new GraphQLNonNull(GraphQLString), description: 'The date of deprecation, such as 2026-11-01.' },
    on: { type: GraphQLString, description: 'The date from which it may be removed.' },
    replacement: {
      type: GraphQLString,
      description: 'The schema coordinate of its replacement, such as Pet.category.',
    },
  },
});

/** The directives that describe how long an element stays as it is, its errors, and its cost. */
const DESCRIBING = [STABILITY, SUNSET, ERRORS_DIRECTIVE, ...COST_DIRECTIVES];

/** Adds the definitions of the directives that the fields use. Returns a new schema. */
export function defineDirectives(schema: GraphQLSchema): GraphQLSchema {
  const scope = schema.getType('Scope');
  if (!isEnumType(scope)) throw new Error('The schema has no enum Scope');
  const requiresScope = new GraphQLDirective({
    name: 'requiresScope',
    description: 'The scope that the caller must have. WRITE includes READ; ADMIN includes both.',
    locations: [DirectiveLocation.FIELD_DEFINITION],
    args: { scope: { type: new GraphQLNonNull(scope), description: 'The minimum scope.' } },
  });
  const directives = [...specifiedDirectives, RATE_LIMIT, requiresScope, ...DESCRIBING];
  return new GraphQLSchema({ ...schema.toConfig(), directives });
}

type Field = GraphQLField<unknown, unknown>;

/** Whether a field counts against the caller's plan. */
export function isCounted({ astNode }: Field): boolean {
  return astNode?.directives?.some(({ name }) => name.value === RATE_LIMIT.name) ?? false;
}

/** The scope that a field requires; `undefined` if it requires none. */
export function requiredScope({ astNode }: Partial<Pick<Field, 'astNode'>>): Scope | undefined {
  const directive = astNode?.directives?.find(({ name }) => name.value === 'requiresScope');
  const value = directive?.arguments?.[0]?.value;
  return value?.kind === Kind.ENUM ? (value.value as Scope) : undefined;
}
