import {
  coerceInputValue,
  type GraphQLInputType,
  type GraphQLSchema,
  isInputType,
  type OperationDefinitionNode,
  typeFromAST,
} from 'graphql';
import type { ErrorDetail } from '../domain/errors';

type Variables = Readonly<Record<string, unknown>>;

/** Everything that is wrong with the variables of an operation, each with its path: `input.categoryId`. */
export function variableErrors(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  variables: Variables,
): ErrorDetail[] {
  return (operation.variableDefinitions ?? []).flatMap(({ variable, type, defaultValue }) => {
    const name = variable.name.value;
    const inputType = typeFromAST(schema, type as Parameters<typeof typeFromAST>[1]);
    if (!isInputType(inputType)) return [];
    const given = Object.hasOwn(variables, name);
    if (!given && (defaultValue || type.kind !== 'NonNullType')) return [];
    if (!given) return [{ path: name, message: `must be given: its type is ${inputType}` }];
    return valueErrors(inputType, variables[name], name);
  });
}

/** What is wrong with one value of an input type. @param path what its details' paths start with. */
export function valueErrors(type: GraphQLInputType, value: unknown, path: string): ErrorDetail[] {
  const details: ErrorDetail[] = [];
  coerceInputValue(value, type, (inner, _value, error) => {
    details.push({ path: [path, ...inner].filter((part) => part !== '').join('.'), message: error.message });
  });
  return details;
}
