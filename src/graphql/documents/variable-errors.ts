import {
  coerceInputValue,
  type GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  isInputType,
  type OperationDefinitionNode,
  typeFromAST,
} from 'graphql';
import type { ErrorDetail } from '../../domain/domain-error';
import type { Variables } from '../executor/context';
import { innerRuleErrors, ruleErrors, takersOf } from './rule-errors';

/** At most this many errors are reported. */
const MAX_ERRORS = 100;

/**
 * Everything wrong with the variables of an operation, each error with its path, `input.categoryId`: what does not fit
 * its type, and what fits but breaks the rule of the argument or input field that takes it.
 * @param hideSuggestions whether to omit "Did you mean" suggestions of schema names.
 */
export function variableErrors(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  variables: Variables,
  hideSuggestions: boolean,
): ErrorDetail[] {
  const takers = takersOf(schema, operation);
  const details = (operation.variableDefinitions ?? []).flatMap(({ variable, type, defaultValue }) => {
    const name = variable.name.value;
    const inputType = typeFromAST(schema, type as Parameters<typeof typeFromAST>[1]);
    if (!isInputType(inputType)) return [];
    const given = Object.hasOwn(variables, name);
    if (!given && (defaultValue || type.kind !== 'NonNullType')) return [];
    if (!given) return [{ path: name, message: `must be given: its type is ${inputType}` }];
    const value = variables[name];
    const misfits = typeErrors(inputType, value, name, hideSuggestions);
    const refused = new Set(misfits.map(({ path }) => path));
    const broken = [
      ...takers(name).flatMap((element) => ruleErrors(element, value, name)),
      ...innerRuleErrors(inputType, value, name),
    ];
    return [...misfits, ...broken.filter(({ path }) => !refused.has(path))];
  });
  return details.slice(0, MAX_ERRORS);
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

/** Thrown to stop collecting errors. */
class Enough extends Error {}
