import { type FormattedExecutionResult, type GraphQLField, Kind, type OperationDefinitionNode, parse } from 'graphql';
import type { ErrorCode } from '../../src/errors/error-codes';
import { OPERATION_ERRORS } from '../../src/errors/operation-errors';
import { errorsOf } from '../../src/graphql/errors-directive';
import { buildSchema, type Services } from '../../src/graphql/schema';
import { perWorker } from './per-worker';

/** Errors by a field's own rules; an argument's type is no such rule. */
const OWN = Object.keys(OPERATION_ERRORS).filter(
  (code) => code !== 'BAD_USER_INPUT' && !code.startsWith('IDEMPOTENCY'),
);

/** @throws Error if a root field has failed with an error by its own rules that its `@errors` does not name. */
export function holdToDeclaredErrors(query: string, errors: FormattedExecutionResult['errors']): void {
  for (const { path, extensions } of errors ?? []) {
    const code = extensions?.code as ErrorCode;
    if (path?.length !== 1 || !OWN.includes(code)) continue;
    const field = rootField(query, String(path[0]));
    if (field && !errorsOf(field).includes(code)) throw new Error(`${field.name} does not declare ${code} in @errors`);
  }
}

/** The root field with this response key; `undefined` if it is in a fragment. */
function rootField(query: string, key: string): GraphQLField<unknown, unknown> | undefined {
  const schema = perWorker('schema', () => buildSchema({} as Services));
  const operations = parse(query).definitions.filter(
    (each): each is OperationDefinitionNode => each.kind === Kind.OPERATION_DEFINITION,
  );
  for (const { operation, selectionSet } of operations)
    for (const each of selectionSet.selections)
      if (each.kind === Kind.FIELD && (each.alias ?? each.name).value === key)
        return schema.getRootType(operation)?.getFields()[each.name.value];
  return undefined;
}
