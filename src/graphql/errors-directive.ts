import { buildSchema, type GraphQLDirective, type GraphQLField, getDirectiveValues } from 'graphql';
import { Directive } from 'type-graphql';
import { ERROR_CODES, ERRORS, type ErrorCode } from '../errors/error-codes';

/** Names the errors that a root field gives by its own rules; its description and OpenAPI name them too. */
export const Errors = (...codes: ErrorCode[]) => Directive(`@errors(codes: [${codes.join(', ')}])`);

const CODES = ERROR_CODES.map((code) => `${JSON.stringify(`${ERRORS[code].status}: ${ERRORS[code].why}`)} ${code}`);

/** Errors that any operation may give (limits, access, idempotency keys) are not repeated for each field. */
export const ERRORS_DIRECTIVE = buildSchema(`
  "The errors that a field gives by its own rules, beside those that any operation may give."
  directive @errors("Their codes." codes: [ErrorCode!]!) on FIELD_DEFINITION

  "The \`extensions.code\` of an error. \`/docs/errors\` says what to do about each."
  enum ErrorCode { ${CODES.join('\n')} }
`).getDirective('errors') as GraphQLDirective;

/** The errors that a root field gives by its own rules. */
export function errorsOf({ astNode }: Partial<Pick<GraphQLField<unknown, unknown>, 'astNode'>>): readonly ErrorCode[] {
  const values = astNode ? getDirectiveValues(ERRORS_DIRECTIVE, astNode) : undefined;
  return (values?.codes as readonly ErrorCode[] | undefined) ?? [];
}
