import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNamedType,
  getNullableType,
  isLeafType,
  isListType,
  isObjectType,
} from 'graphql';
import { JsonText } from '../database/reading/selection';
import { quoted } from '../graphql/json-text';
import { type Payload, valuesOf } from './payload';

/** Writes a value of a GraphQL result as JSON text. */
export type Writer = (value: unknown) => string;

/**
 * The writer for a payload: nulls are left out, and identifiers, which are strings in GraphQL, become JSON integers,
 * exact beyond 2^53.
 */
export function writerOf({ fields, isList }: Pick<Payload, 'fields' | 'isList'>): Writer {
  const write = objectWriter(fields);
  return isList ? listWriter(write) : write;
}

/** Writes a row, as the domain has it, as a read of it writes its result. */
export function rowWriterOf(type: GraphQLObjectType): (row: object) => string {
  const fields = valuesOf(type).map(({ name, type: of }) => ({ name, leaf: getNamedType(of) }));
  const write = objectWriter(valuesOf(type));
  return (row) => {
    const values = row as Readonly<Record<string, unknown>>;
    const result = fields.map(({ name, leaf }) => {
      const value = values[name] ?? null;
      return [name, value !== null && isLeafType(leaf) ? leaf.serialize(value) : value];
    });
    return write(Object.fromEntries(result));
  };
}

function objectWriter(fields: readonly GraphQLField<unknown, unknown>[]): Writer {
  const members = fields.map(({ name: key, type }) => ({
    key,
    name: `${JSON.stringify(key)}:`,
    write: valueWriter(type),
  }));
  return (value) => {
    if (value instanceof JsonText) return value.text;
    const object = value as Record<string, unknown>;
    let text = '{';
    for (const { key, name, write } of members) {
      const field = object[key];
      if (field !== null && field !== undefined) text += (text === '{' ? name : `,${name}`) + write(field);
    }
    return `${text}}`;
  };
}

function valueWriter(type: GraphQLOutputType): Writer {
  const shape = getNullableType(type);
  if (isListType(shape)) return listWriter(valueWriter(shape.ofType));
  if (isObjectType(shape)) return objectWriter(valuesOf(shape));
  return VERBATIM.has(shape.name) ? String : (value) => quoted(value as string);
}

function listWriter(write: Writer): Writer {
  return (list) => (list instanceof JsonText ? list.text : `[${(list as unknown[]).map(write).join(',')}]`);
}

/** Scalars whose GraphQL result, as a string, is already their JSON text. */
const VERBATIM: ReadonlySet<string> = new Set(['ID', 'Int', 'Float', 'Boolean']);
