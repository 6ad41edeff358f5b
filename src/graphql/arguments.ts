import {
  type ArgumentNode,
  type FieldNode,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  getNullableType,
  isInputObjectType,
  isNonNullType,
  Kind,
  type ObjectFieldNode,
  type ValueNode,
  valueFromAST,
} from 'graphql';
import { getArgumentValues } from 'graphql/execution/values';
import { Misfit, present } from './input-values';

type Values = Record<string, unknown>;
/** Evaluates a literal with the coerced variables of one run; `undefined` for a variable that is not given. */
type Evaluate = (variables: Values) => unknown;

/** Whether the arguments of a field are the same in every run of its document. */
export function hasConstantArguments(node: FieldNode): boolean {
  return !node.arguments?.some(({ value }) => holdsVariable(value));
}

/**
 * Coerces the arguments of a field of a validated document as graphql-js does (GraphQL, section 6.4.1), but
 * without reading the document again in each run. If a value does not fit, graphql-js is called to produce the
 * error.
 */
export function argumentsOf(
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
): (variables: Values) => Values {
  const evaluate = membersEvaluator(field.args, node.arguments ?? []);
  return (variables) => {
    try {
      return evaluate(variables);
    } catch {
      return getArgumentValues(field, node, variables);
    }
  };
}

/** @param given the fields of an object literal, or the arguments of a field. */
function membersEvaluator(
  members: readonly (GraphQLArgument | GraphQLInputField)[],
  given: readonly (ArgumentNode | ObjectFieldNode)[],
): (variables: Values) => Values {
  const nodes = new Map(given.map(({ name, value }) => [name.value, value]));
  const readers = members.map(({ name, type, defaultValue }) => {
    const node = nodes.get(name);
    const evaluate = node && evaluatorOf(node, type);
    return { name, evaluate, defaultValue, isRequired: isNonNullType(type) };
  });
  return (variables) => {
    const values: Values = {};
    for (const { name, evaluate, defaultValue, isRequired } of readers) {
      const given = evaluate?.(variables);
      const value = given === undefined ? defaultValue : given;
      if (value !== undefined) values[name] = value;
      else if (isRequired) throw new Misfit();
    }
    return values;
  };
}

function evaluatorOf(node: ValueNode, type: GraphQLInputType): Evaluate {
  if (node.kind === Kind.VARIABLE) return variableReader(node.name.value, isNonNullType(type));
  if (!holdsVariable(node)) {
    const constant = present(valueFromAST(node, type));
    return () => constant;
  }
  const nullable = getNullableType(type);
  if (node.kind === Kind.OBJECT && isInputObjectType(nullable) && !nullable.isOneOf)
    return membersEvaluator(Object.values(nullable.getFields()), node.fields);
  return (variables) => present(valueFromAST(node, type, variables));
}

function variableReader(name: string, isRequired: boolean): Evaluate {
  return (variables) => {
    if (!Object.hasOwn(variables, name)) return undefined;
    const value = variables[name];
    if (value === null && isRequired) throw new Misfit();
    return value;
  };
}

function holdsVariable(node: ValueNode): boolean {
  if (node.kind === Kind.LIST) return node.values.some(holdsVariable);
  if (node.kind === Kind.OBJECT) return node.fields.some(({ value }) => holdsVariable(value));
  return node.kind === Kind.VARIABLE;
}
