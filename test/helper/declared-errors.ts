import { type FormattedExecutionResult, type GraphQLField, Kind, type OperationDefinitionNode, parse } from 'graphql';
import { contractSchema } from '../../src/app/contract';
import { gatewayDomains } from '../../src/app/domains';
import { isErrorCode } from '../../src/errors/codes';
import { errorsOf } from '../../src/graphql/directives';
import { perWorker } from './per-worker';

/** The codes that a root field must declare in `@errors`: all codes of the domains, and four general codes. */
const OWN = new Set([
  ...Array.from(gatewayDomains().errors.keys()).filter((code) => !isErrorCode(code)),
  ...['FORBIDDEN', 'NOT_FOUND', 'PRECONDITION_FAILED', 'UNKNOWN_REFERENCE'],
]);

/** @throws Error if a root field failed with a code in {@link OWN} that its `@errors` does not name. */
export function holdToDeclaredErrors(query: string, errors: FormattedExecutionResult['errors']): void {
  for (const { path, extensions } of errors ?? []) {
    const code = extensions?.code as string;
    if (path?.length !== 1 || !OWN.has(code)) continue;
    const field = rootField(query, String(path[0]));
    if (field && !errorsOf(field).includes(code)) throw new Error(`${field.name} does not declare ${code} in @errors`);
  }
}

/** The root field with this response key; `undefined` if it is in a fragment. */
function rootField(query: string, key: string): GraphQLField<unknown, unknown> | undefined {
  const schema = perWorker('schema', () => contractSchema());
  const operations = parse(query).definitions.filter(
    (each): each is OperationDefinitionNode => each.kind === Kind.OPERATION_DEFINITION,
  );
  for (const { operation, selectionSet } of operations)
    for (const each of selectionSet.selections)
      if (each.kind === Kind.FIELD && (each.alias ?? each.name).value === key)
        return schema.getRootType(operation)?.getFields()[each.name.value];
  return undefined;
}
