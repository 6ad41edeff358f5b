import {
  type GraphQLField,
  type GraphQLNamedType,
  getNamedType,
  getNullableType,
  isEnumType,
  isListType,
  isNonNullType,
  isScalarType,
} from 'graphql';
import { type Column, columnOrComputed, type Table } from '../database/reading/table';

/** For each kind of column, the scalars with which graphql-js writes its values. PostgreSQL writes them in the same way. */
const SCALARS: Readonly<Record<Column['kind'], readonly string[]>> = {
  id: ['ID'],
  text: ['String'],
  enum: ['String', 'ID'],
  integer: ['Int', 'Float'],
  boolean: ['Boolean'],
  timestamp: ['DateTime'],
  date: [],
  other: [],
};

/**
 * The scalars that PostgreSQL can write as JSON. A field of any other scalar may have a column of any kind, but only graphql-js
 * can serialize the field.
 */
const KNOWN: ReadonlySet<string> = new Set(['ID', 'String', 'Int', 'Float', 'Boolean', 'DateTime']);

type Field = GraphQLField<unknown, unknown>;

/** Whether PostgreSQL can write the column of a field exactly as graphql-js writes the field. */
export function isWritable(table: Table<object>, { name, type }: Field): boolean {
  if (!table.columns[name] && !table.computed?.[name]) return false;
  return !isListType(getNullableType(type)) && isWrittenAs(getNamedType(type), columnOrComputed(table, name));
}

function isWrittenAs(type: GraphQLNamedType, { kind }: Column): boolean {
  if (isEnumType(type)) return kind === 'enum' && type.getValues().every(({ name, value }) => name === value);
  return SCALARS[kind].includes(type.name);
}

/**
 * The reason why a field cannot return the values of its column; `undefined` if it can.
 * @param coordinate the name of the field: `Pet.name`.
 */
export function columnFault(table: Table<object>, coordinate: string, { name, type }: Field): string | undefined {
  const column = table.columns[name] ?? table.computed?.[name];
  if (!column) return undefined;
  const fault = (reason: string) => `${coordinate} is ${type}, but the column ${table.name}.${name} ${reason}`;
  if (column.isNullable && isNonNullType(type)) return fault('may be null');
  const named = getNamedType(type);
  const hasFormat = isEnumType(named) || (isScalarType(named) && KNOWN.has(named.name));
  if (!hasFormat || column.kind === 'other' || (isEnumType(named) && column.kind === 'text')) return undefined;
  return isWrittenAs(named, column) && !isListType(getNullableType(type))
    ? undefined
    : fault(`is of the kind ${column.kind}`);
}
