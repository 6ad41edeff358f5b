import {
  coerceInputValue,
  type GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  isInputType,
  type OperationDefinitionNode,
  typeFromAST,
} from 'graphql';
import type { ErrorDetail } from '../domain/domain-error';
import type { Variables } from './variables';

/** At most this many errors are reported. */
const MAX_ERRORS = 100;

/**
 * Everything wrong with the variables of an operation, each error with its path: `input.categoryId`.
 * @param hideSuggestions whether to omit "Did you mean" suggestions of schema names.
 */
export function variableErrors(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  variables: Variables,
  hideSuggestions: boolean,
): ErrorDetail[] {
  const details = (operation.variableDefinitions ?? []).flatMap(({ variable, type, defaultValue }) => {
    const name = variable.name.value;
    const inputType = typeFromAST(schema, type as Parameters<typeof typeFromAST>[1]);
    if (!isInputType(inputType)) return [];
    const given = Object.hasOwn(variables, name);
    if (!given && (defaultValue || type.kind !== 'NonNullType')) return [];
    if (!given) return [{ path: name, message: `must be given: its type is ${inputType}` }];
    return valueErrors(inputType, variables[name], name, hideSuggestions);
  });
  return details.slice(0, MAX_ERRORS);
}

/** Everything wrong with one value of an input type. @param path the prefix of the errors' paths. */
export function valueErrors(
  type: GraphQLInputType,
  value: unknown,
  path: string,
  hideSuggestions = true,
): ErrorDetail[] {
  const details: ErrorDetail[] = [];
  const note = (inner: readonly (string | number)[], _value: unknown, { message }: GraphQLError) => {
    if (details.length === MAX_ERRORS) throw new Enough();
    details.push({ path: [path, ...inner].filter((part) => part !== '').join('.'), message });
  };
  try {
    coerceInputValue(value, type, note, hideSuggestions);
  } catch (error) {
    if (!(error instanceof Enough)) throw error;
  }
  return details;
}

/** Thrown to stop collecting errors. */
class Enough extends Error {}
