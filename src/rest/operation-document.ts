import { type GraphQLField, getNamedType, isObjectType } from 'graphql';
import type { Input } from './requests/inputs';
import { type Payload, valuesOf } from './responses/payload';
import type { Operation } from './rest-operation';

type Field = GraphQLField<unknown, unknown>;

/** The document of an operation. It passes the arguments that have inputs on from variables of the same names. */
export function documentOf(operation: Operation, root: Field, inputs: readonly Input[], payload: Payload): string {
  const given = new Set(inputs.map(({ target }) => target[0]));
  const args = root.args.filter(({ name }) => given.has(name));
  const variables = parenthesised(args.map(({ name, type }) => `$${name}: ${type}`));
  const passed = parenthesised(args.map(({ name }) => `${name}: $${name}`));
  const kind = operation.field.startsWith('Query.') ? 'query' : 'mutation';
  return `${kind} ${operation.id}${variables} { ${root.name}${passed} ${selectionOf(payload)} }`;
}

function selectionOf({ fields, isPage }: Payload): string {
  const selection = `{ ${fields.map(selected).join(' ')} }`;
  return isPage ? `{ nodes ${selection} pageInfo { hasNextPage endCursor } }` : selection;
}

function selected({ name, type }: Field): string {
  const inner = getNamedType(type);
  return isObjectType(inner) ? `${name} { ${valuesOf(inner).map(selected).join(' ')} }` : name;
}

function parenthesised(list: readonly string[]): string {
  return list.length ? `(${list.join(', ')})` : '';
}
