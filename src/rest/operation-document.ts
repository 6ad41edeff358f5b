import { type GraphQLField, getNamedType, getNullableType, isObjectType } from 'graphql';
import type { Input } from './inputs';
import { type Payload, valuesOf } from './payload';
import type { Operation } from './rest-operation';

type Field = GraphQLField<unknown, unknown>;

/**
 * The document of an operation. It passes the arguments that have inputs on from variables of the same names.
 * @param path the root field, and the fields below it that lead to the result.
 */
export function documentOf(
  operation: Operation,
  path: readonly [root: Field, field?: Field],
  inputs: readonly Input[],
  payload: Payload,
): string {
  const given = new Set(inputs.map(({ target }) => target[0]));
  const [root, field = root] = path;
  const args = field.args.filter(({ name }) => given.has(name));
  // A variable that is not given leaves the argument its default.
  const optional = ({ type, defaultValue }: (typeof args)[number]) =>
    defaultValue === undefined ? type : getNullableType(type);
  const variables = parenthesised(args.map((argument) => `$${argument.name}: ${optional(argument)}`));
  const passed = parenthesised(args.map(({ name }) => `${name}: $${name}`));
  const kind = operation.field.startsWith('Query.') ? 'query' : 'mutation';
  const selected = `${field.name}${passed} ${selectionOf(payload)}`;
  return `${kind} ${operation.id}${variables} { ${field === root ? selected : `${root.name} { ${selected} }`} }`;
}

function selectionOf({ fields, isPage }: Payload): string {
  const selection = `{ ${fields.map(selectionOfField).join(' ')} }`;
  return isPage ? `{ nodes ${selection} pageInfo { hasNextPage endCursor } }` : selection;
}

function selectionOfField({ name, type }: Field): string {
  const inner = getNamedType(type);
  return isObjectType(inner) ? `${name} { ${valuesOf(inner).map(selectionOfField).join(' ')} }` : name;
}

function parenthesised(list: readonly string[]): string {
  return list.length ? `(${list.join(', ')})` : '';
}
