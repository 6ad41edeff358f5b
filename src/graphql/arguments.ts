import { type FieldNode, type GraphQLField, isNonNullType, Kind } from 'graphql';
import { getArgumentValues } from 'graphql/execution/values';

type Values = Record<string, unknown>;

/** Whether the arguments of a field are the same in each run of its document. */
export function hasConstantArguments(node: FieldNode): boolean {
  return !JSON.stringify(node.arguments, (key, value) => (key === 'loc' ? undefined : value)).includes(
    '"Variable"',
  );
}

interface Given {
  readonly name: string;
  readonly variable: string;
  readonly isRequired: boolean;
  readonly defaultValue: unknown;
}

/**
 * The arguments of a field of a validated document, as graphql-js coerces them (GraphQL, section 6.4.1). Variables have been
 * coerced: those that are arguments as they stand are handed on. Where there is a literal beside them, or something is wrong,
 * graphql-js is asked.
 */
export function argumentsOf(
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
): (variables: Values) => Values {
  const values = new Map(node.arguments?.map(({ name, value }) => [name.value, value]));
  const defaults: Values = {};
  const given: Given[] = [];
  const ask = (variables: Values) => getArgumentValues(field, node, variables);
  for (const { name, type, defaultValue } of field.args) {
    const value = values.get(name);
    if (value?.kind === Kind.VARIABLE)
      given.push({ name, variable: value.name.value, isRequired: isNonNullType(type), defaultValue });
    else if (value) return ask;
    else if (defaultValue !== undefined) defaults[name] = defaultValue;
  }
  return (variables) => {
    const args = { ...defaults };
    for (const { name, variable, isRequired, defaultValue } of given) {
      const value = Object.hasOwn(variables, variable) ? variables[variable] : defaultValue;
      if (isRequired && (value === undefined || value === null)) return ask(variables);
      if (value !== undefined) args[name] = value;
    }
    return args;
  };
}
