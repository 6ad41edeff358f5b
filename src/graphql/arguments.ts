import { type FieldNode, type GraphQLField, Kind } from 'graphql';
import { getArgumentValues } from 'graphql/execution/values';

type Values = Record<string, unknown>;

/** Whether the arguments of a field are the same in each run of its document. */
export function hasConstantArguments(node: FieldNode): boolean {
  return !JSON.stringify(node.arguments, (key, value) => (key === 'loc' ? undefined : value)).includes(
    '"Variable"',
  );
}

/**
 * The arguments of a field of a validated document, as graphql-js coerces them. Variables have been coerced: those that are
 * arguments as they stand are handed on; where one is null or left out, or part of a literal, graphql-js is asked.
 */
export function argumentsOf(
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
): (variables: Values) => Values {
  const given = new Map(node.arguments?.map(({ name, value }) => [name.value, value]));
  const defaults: Values = {};
  const variableOf: [argument: string, variable: string][] = [];
  const ask = (variables: Values) => getArgumentValues(field, node, variables);
  for (const { name, defaultValue } of field.args) {
    const value = given.get(name);
    if (value?.kind === Kind.VARIABLE) variableOf.push([name, value.name.value]);
    else if (value) return ask;
    else if (defaultValue !== undefined) defaults[name] = defaultValue;
  }
  return (variables) => {
    const values = { ...defaults };
    for (const [argument, variable] of variableOf) {
      const value = Object.hasOwn(variables, variable) ? variables[variable] : undefined;
      if (value === undefined || value === null) return ask(variables);
      values[argument] = value;
    }
    return values;
  };
}
