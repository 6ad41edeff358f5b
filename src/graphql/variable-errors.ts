import {
  coerceInputValue,
  type GraphQLArgument,
  type GraphQLError,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isInputType,
  isListType,
  type OperationDefinitionNode,
  typeFromAST,
} from 'graphql';
import type { ErrorDetail } from '../domain/errors';
import { faultsOf } from '../domain/rules';
import { ruleOf } from './json-schema';
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

/**
 * Everything wrong with one value of an input type: what does not fit the type, and what fits but breaks the rule of
 * its input field. @param path the prefix of the errors' paths.
 */
function valueErrors(
  type: GraphQLInputType,
  value: unknown,
  path: string,
  hideSuggestions: boolean,
): ErrorDetail[] {
  const misfits = typeErrors(type, value, path, hideSuggestions);
  const refused = new Set(misfits.map((misfit) => misfit.path));
  return [...misfits, ...memberErrors(type, value, path).filter((broken) => !refused.has(broken.path))];
}

/** Where a value does not fit its type. */
export function typeErrors(
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

/** Which rule of a field or an argument a value breaks. */
export function ruleErrors(
  field: GraphQLInputField | GraphQLArgument,
  value: unknown,
  path: string,
): ErrorDetail[] {
  return faultsOf(ruleOf(field), value).map((message) => ({ path, message }));
}

/** Which rules of input fields are broken inside a value, which need not fit its type. */
function memberErrors(type: GraphQLInputType, value: unknown, path: string): ErrorDetail[] {
  if (!isInputObjectType(getNamedType(type))) return [];
  const shape = getNullableType(type);
  if (isListType(shape) && Array.isArray(value))
    return value.flatMap((item, index) => memberErrors(shape.ofType, item, `${path}.${index}`));
  if (isListType(shape)) return memberErrors(shape.ofType, value, path);
  if (!isInputObjectType(shape) || typeof value !== 'object' || value === null) return [];
  return Object.values(shape.getFields()).flatMap((field) => {
    if (!Object.hasOwn(value, field.name)) return [];
    const given = (value as Variables)[field.name];
    const at = `${path}.${field.name}`;
    return [...ruleErrors(field, given, at), ...memberErrors(field.type, given, at)];
  });
}

/** Thrown to stop collecting errors. */
class Enough extends Error {}
