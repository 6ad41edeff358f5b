import { buildSchema, type GraphQLDirective, type GraphQLField, Kind } from 'graphql';
import { Directive } from 'type-graphql';
import type { Catalogue } from '../errors/codes';

/**
 * Declares the errors that the rules of this root field can cause. The field's description and the OpenAPI document list
 * them.
 */
export const Errors = (...codes: string[]) => Directive(`@errors(codes: [${codes.join(', ')}])`);

/**
 * The definition of `@errors`. The codes of a field do not include errors that every operation may return (limits, access,
 * idempotency keys).
 */
export function errorsDirective(catalogue: Catalogue): GraphQLDirective {
  const codes = Array.from(catalogue, ([code, { status, why }]) => `${JSON.stringify(`${status}: ${why}`)} ${code}`);
  const definitions = buildSchema(`
    "The errors of a field's own rules. In addition, every operation may return general errors, such as RATE_LIMITED."
    directive @errors("The codes of the field's own errors." codes: [ErrorCode!]!) on FIELD_DEFINITION

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
