import { crc32 } from 'node:zlib';
import { MAX_INT32, MAX_INT64 } from '../integers';
import type { Bound } from './selection';
import { type Column, columnOf, orderOf, type Table } from './table';

/**
 * A cursor is the base64url of three parts: a tag, the id of a row, and the sort key of the row. The tag identifies the
 * list and its order, so that cursors of other lists can be rejected. Cursors are opaque to clients, but not secret.
 */

/** The tag for a text that names a list and its order. */
export function tagOf(list: string): string {
  return crc32(list).toString(16).padStart(8, '0');
}

/** The tag for the list of a table's rows in an order. */
export function listTag<Row>({ name }: Table<Row>, order: string, descending: boolean): string {
  return tagOf(`${name} ${order}${descending ? ' desc' : ''}`);
}

export function encodeCursor(tag: string, { key, id }: Bound): string {
  return Buffer.from(`${tag}${id} ${key}`).toString('base64url');
}

/** SQL that creates the same cursors as {@link encodeCursor}. */
export interface CursorSql {
  readonly id: string;
  readonly key: string;
  /** @param id SQL of the id of a row. @param key SQL of its key. */
  of(id: string, key: string): string;
}

export function cursorSql<Row>(table: Table<Row>, order: string, descending: boolean): CursorSql {
  const tag = listTag(table, order, descending);
  return {
    id: columnOf(table, table.idField),
    key: keySql(orderOf(table, order).column),
    of: (id, key) => {
      const text = `convert_to('${tag}' || ${id} || ' ' || ${key}, 'UTF8')`;
      // `encode` adds line breaks and `=` padding. `translate` removes them, and replaces `+/` with `-_`.
      return `translate(encode(${text}, 'base64'), E'+/=\n', '-_')`;
    },
  };
}

function keySql({ sql, kind }: Column): string {
  if (kind === 'text') return sql;
  if (kind !== 'timestamp' && kind !== 'date') return `${sql}::text`;
  // Rows without a time have the key `infinity`, which sorts last.
  return `coalesce(to_char(${sql}::timestamptz at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'infinity')`;
}

/** Whether a text has the form of a cursor of any list. */
export function isCursor(text: string): boolean {
  const decoded = Buffer.from(text, 'base64url');
  return FORM.test(decoded.toString()) && decoded.toString('base64url') === text;
}

const FORM = /^[0-9a-f]{8}[0-9]{1,19} /;

/**
 * Decodes a cursor. Returns `undefined` if the cursor has a different tag, an invalid id, or a key that is invalid for this
 * kind of column.
 */
export function decodeCursor(tag: string, kind: Column['kind'], cursor: string): Bound | undefined {
  const bytes = Buffer.from(cursor, 'base64url');
  const text = bytes.toString();
  const space = text.indexOf(' ', tag.length);
  if (space < 0 || !text.startsWith(tag) || bytes.toString('base64url') !== cursor) return undefined;
  const bound = { id: text.slice(tag.length, space), key: text.slice(space + 1) };
  return isId(bound.id) && IS_KEY[kind]?.(bound.key) ? bound : undefined;
}

/**
 * For each kind of column, a function that checks whether a key is valid. An invalid key would make the statement fail with
 * an internal error.
 */
const IS_KEY: { readonly [kind in Column['kind']]?: (key: string) => boolean } = {
  id: isId,
  integer: (key) => /^[0-9]{1,10}$/.test(key) && Number(key) <= MAX_INT32,
  text: (key) => !key.includes('\0') && key.isWellFormed(),
  timestamp: isTime,
  date: isTime,
};

function isId(key: string): boolean {
  return /^[0-9]{1,19}$/.test(key) && BigInt(key) <= MAX_INT64;
}

function isTime(key: string): boolean {
  if (key === 'infinity') return true;
  return /^(?!0000)[0-9]{4}-/.test(key) && new Date(Date.parse(key) || 0).toISOString() === key;
}
