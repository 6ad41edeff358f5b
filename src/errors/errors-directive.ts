import {
  DirectiveLocation,
  GraphQLDirective,
  GraphQLEnumType,
  type GraphQLField,
  GraphQLList,
  GraphQLNonNull,
  getDirectiveValues,
} from 'graphql';
import { Directive } from 'type-graphql';
import { ERROR_CODES, ERRORS, type ErrorCode } from './error-codes';

/** Names the errors that a root field gives by its own rules; its description and OpenAPI name them too. */
export const Errors = (...codes: ErrorCode[]) => Directive(`@errors(codes: [${codes.join(', ')}])`);

const CODE = new GraphQLEnumType({
  name: 'ErrorCode',
  description: 'The `extensions.code` of an error. `/docs/errors` says what to do about each.',
  values: Object.fromEntries(
    ERROR_CODES.map((code) => [code, { description: `${ERRORS[code].status}: ${ERRORS[code].why}` }]),
  ),
});

/** Errors that any operation may give (limits, access, idempotency keys) are not repeated for each field. */
export const ERRORS_DIRECTIVE = new GraphQLDirective({
  name: 'errors',
  description: 'The errors that a field gives by its own rules, beside those that any operation may give.',
  locations: [DirectiveLocation.FIELD_DEFINITION],
  args: {
    codes: { type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(CODE))), description: 'Their codes.' },
  },
});

/** The errors that a root field gives by its own rules. */
export function errorsOf({ astNode }: Partial<Pick<GraphQLField<unknown, unknown>, 'astNode'>>): readonly ErrorCode[] {
  const values = astNode ? getDirectiveValues(ERRORS_DIRECTIVE, astNode) : undefined;
  return (values?.codes as readonly ErrorCode[] | undefined) ?? [];
}
