import {
  coerceInputValue,
  type FragmentDefinitionNode,
  type GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  isInputType,
  type OperationDefinitionNode,
  typeFromAST,
} from 'graphql';
import type { ErrorDetail } from './domain-error';
import { innerRuleErrors, placesOf, ruleErrors } from './rule-errors';

/** At most this many errors are reported. */
const MAX_ERRORS = 100;

/** The operation whose variables are checked. */
interface Source {
  readonly schema: GraphQLSchema;
  readonly node: OperationDefinitionNode;
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>;
}

/**
 * Everything wrong with the variables of an operation: what does not fit its type, and what fits but breaks the rule of
 * the argument or input field that takes it. Paths lead from the argument, as for a literal and for what the domain
 * refuses, whatever the variable is called: `input.categoryId`. If it is used at several paths, its name stands for them.
 */
export function variableErrors(
  { schema, node, fragments }: Source,
  variables: Readonly<Record<string, unknown>>,
): ErrorDetail[] {
  const placesOfVariable = placesOf(schema, node, fragments);
  const details = (node.variableDefinitions ?? []).flatMap(({ variable, type, defaultValue }) => {
    const name = variable.name.value;
    const inputType = typeFromAST(schema, type as Parameters<typeof typeFromAST>[1]);
    if (!isInputType(inputType)) return [];
    const given = Object.hasOwn(variables, name);
    if (!given && (defaultValue || type.kind !== 'NonNullType')) return [];
    const places = placesOfVariable(name);
    const [path = name, ...others] = new Set(places.map((place) => place.path));
    const root = others.length ? name : path;
    if (!given) return [{ path: root, message: `must be given: the variable $${name} has the type ${inputType}` }];
    const takers = new Set(places.flatMap(({ element }) => element ?? []));
    const value = variables[name];
    const misfits = typeErrors(inputType, value, root);
    const refused = new Set(misfits.map((misfit) => misfit.path));
    const broken = [
      ...[...takers].flatMap((element) => ruleErrors(element, value, root)),
      ...innerRuleErrors(inputType, value, root),
    ];
    return [...misfits, ...broken.filter((fault) => !refused.has(fault.path))];
  });
  return details.slice(0, MAX_ERRORS);
}

/** What graphql-js says, at the path of an object, of a field that is not there or should not be. */
const MISSING = /^Field "(\w+)" of required type /;
const UNKNOWN = /^Field "(.*)" is not defined by type "(\w+)"(?:\.( Did you mean .*))?/s;

/** Where a value does not fit its type. */
export function typeErrors(type: GraphQLInputType, value: unknown, path: string): ErrorDetail[] {
  const details: ErrorDetail[] = [];
  const note = (inner: readonly (string | number)[], _value: unknown, { message }: GraphQLError) => {
    if (details.length === MAX_ERRORS) throw new Enough();
    const [, missing] = MISSING.exec(message) ?? [];
    const [, unknown, type, suggestion = ''] = UNKNOWN.exec(message) ?? [];
    const at = [path, ...inner, missing ?? unknown].filter((part) => part !== undefined).join('.');
    details.push({
      path: at,
      message: missing ? 'is required' : type ? `is not a field of ${type}${suggestion && `.${suggestion}`}` : message,
    });
  };
  try {
    coerceInputValue(value, type, note);
  } catch (error) {
    if (!(error instanceof Enough)) throw error;
  }
  return details;
}

/** Thrown to stop collecting errors. */
class Enough extends Error {}
