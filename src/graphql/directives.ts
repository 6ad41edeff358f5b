import {
  buildSchema,
  type ConstDirectiveNode,
  DirectiveLocation,
  GraphQLDirective,
  type GraphQLField,
  GraphQLNonNull,
  GraphQLSchema,
  isEnumType,
  Kind,
} from 'graphql';
import { Arg, type ClassType, Directive } from 'type-graphql';
import type { Catalogue } from '../errors/codes';
import type { Scope } from './caller';
import { COST_DIRECTIVES } from './cost-directives';

/** Marks a root field that counts as one request against the caller's plan. */
export const RateLimited = () => Directive('@rateLimit');

/** Marks a root field that requires this scope. */
export const RequiresScope = (scope: Scope) => Directive(`@requiresScope(scope: ${scope})`);

/** Marks an element that may still change (docs/specification.md, "Versioning"). */
export const Stability = (level: 'EXPERIMENTAL' | 'BETA') => Directive(`@stability(level: ${level})`);

/** The argument that says what to create, or which fields to update. */
export const Input = (type: ClassType, description = 'The fields to update.') =>
  Arg('input', () => type, { description });

/**
 * The directives whose arguments use no type of the generated schema. `@stability` is allowed in the same places as
 * `@deprecated`.
 */
const definitions = buildSchema(`
  "The field counts as one request against the caller's plan. An operation is charged for all such fields together."
  directive @rateLimit on FIELD_DEFINITION

  "Marks an element that may still change. Unmarked elements are stable."
  directive @stability("How stable the element is." level: StabilityLevel!)
    on FIELD_DEFINITION | ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION | ENUM_VALUE

  "How stable an element is."
  enum StabilityLevel {
    "May change or be removed at any time."
    EXPERIMENTAL
    "Nearly stable; may still change after notice."
    BETA
  }
`);

/**
 * Adds the definitions of the directives that the fields use. Returns a new schema.
 * @throws Error if a field names an error code that is not in the catalogue.
 */
export function defineDirectives(schema: GraphQLSchema, errors: Catalogue): GraphQLSchema {
  const scope = schema.getType('Scope');
  if (!isEnumType(scope)) throw new Error('The schema has no enum Scope');
  const requiresScope = new GraphQLDirective({
    name: 'requiresScope',
    description: 'The scope that the caller must have. WRITE includes READ; ADMIN includes both.',
    locations: [DirectiveLocation.FIELD_DEFINITION],
    args: { scope: { type: new GraphQLNonNull(scope), description: 'The minimum scope.' } },
  });
  // `getDirectives` also returns the directives of the GraphQL specification, after the gateway's directives.
  const directives = [...definitions.getDirectives(), requiresScope, errorsDirective(errors), ...COST_DIRECTIVES];
  for (const root of [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]) {
    for (const field of Object.values(root?.getFields() ?? {})) {
      const unknown = errorsOf(field).filter((code) => !errors.has(code));
      if (unknown.length) throw new Error(`${root}.${field.name} has unknown error codes: ${unknown.join(', ')}`);
    }
  }
  return new GraphQLSchema({ ...schema.toConfig(), directives });
}

type Field = GraphQLField<unknown, unknown>;

/** Whether a field counts against the caller's plan. */
export function isCounted({ astNode }: Field): boolean {
  return astNode?.directives?.some(({ name }) => name.value === 'rateLimit') ?? false;
}

/** The scope that a field requires; `undefined` if it requires none. */
export function requiredScope({ astNode }: Marked): Scope | undefined {
  const directive = astNode?.directives?.find(({ name }) => name.value === 'requiresScope');
  const value = directive?.arguments?.[0]?.value;
  return value?.kind === Kind.ENUM ? (value.value as Scope) : undefined;
}

export type StabilityLevel = 'experimental' | 'beta';

/** A schema element that directives may mark. */
export interface Marked {
  readonly astNode?: { readonly directives?: readonly ConstDirectiveNode[] } | null;
}

/** The stability of a field, an argument or an input field; `undefined` if it is stable. */
export function stabilityOf({ astNode }: Marked): StabilityLevel | undefined {
  const directive = astNode?.directives?.find(({ name }) => name.value === 'stability');
  const value = directive?.arguments?.[0]?.value;
  return value?.kind === Kind.ENUM ? (value.value.toLowerCase() as StabilityLevel) : undefined;
}

/**
 * Declares the errors that this root field itself can cause. The field's description and the OpenAPI document list them.
 */
export const Errors = (...codes: string[]) => Directive(`@errors(codes: [${codes.join(', ')}])`);

/**
 * The definition of `@errors`. The codes of a field do not include errors that every operation may return (limits, access,
 * idempotency keys).
 */
function errorsDirective(catalogue: Catalogue): GraphQLDirective {
  const codes = Array.from(catalogue, ([code, { status, why }]) => `${JSON.stringify(`${status}: ${why}`)} ${code}`);
  const definitions = buildSchema(`
    "The errors that this field itself can cause. Every operation may also return general errors, such as RATE_LIMITED."
    directive @errors("The codes of these errors." codes: [ErrorCode!]!) on FIELD_DEFINITION

    "The \`extensions.code\` of an error. \`/docs/errors\` says what to do about each code."
    enum ErrorCode { ${codes.join('\n')} }
  `);
  return definitions.getDirective('errors') as GraphQLDirective;
}

/** The error codes that `@errors` declares for a root field. */
export function errorsOf({ astNode }: Partial<Pick<GraphQLField<unknown, unknown>, 'astNode'>>): readonly string[] {
  const directive = astNode?.directives?.find(({ name }) => name.value === 'errors');
  const codes = directive?.arguments?.[0]?.value;
  return codes?.kind === Kind.LIST ? codes.values.flatMap((code) => (code.kind === Kind.ENUM ? code.value : [])) : [];
}

/** The options of a field or an argument that may be null. */
export function nullable(description: string) {
  return { nullable: true, description } as const;
}
