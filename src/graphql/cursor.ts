import { crc32 } from 'node:zlib';
import type { Bound } from '../database/reading/ranges';
import type { Column } from '../database/reading/table';
import { MAX_INT32, MAX_INT64 } from '../errors/inputs';

const isId = (key: string) => /^[0-9]{1,19}$/.test(key) && BigInt(key) <= MAX_INT64;

/** The valid keys of each kind of column: the database would reject others, which would look like its own failure. */
const IS_KEY: { readonly [kind in Column['kind']]?: (key: string) => boolean } = {
  id: isId,
  integer: (key) => /^[0-9]{1,10}$/.test(key) && Number(key) <= MAX_INT32,
  text: (key) => !key.includes('\0'),
  timestamp: isTime,
  date: isTime,
};

/**
 * An opaque cursor: the order key and id of a row, with a checksum over them and over the list and order they belong
 * to. The checksum detects damaged cursors and those of other lists; it is not a secret.
 * @param list the list and order that the cursor belongs to: `pets NAME desc`.
 */
export function encodeCursor(list: string, { key, id }: Bound): string {
  const content = `${id} ${key}`;
  return Buffer.from(`${checksum(list, content)}${content}`).toString('base64url');
}

/** Decodes a cursor of this list whose key is of this kind; `undefined` for anything else. */
export function decodeCursor(list: string, kind: Column['kind'], cursor: string): Bound | undefined {
  const bytes = Buffer.from(cursor, 'base64url');
  const text = bytes.toString();
  const content = text.slice(8);
  const space = content.indexOf(' ');
  if (space < 1 || bytes.toString('base64url') !== cursor || text.slice(0, 8) !== checksum(list, content)) {
    return undefined;
  }
  const bound = { id: content.slice(0, space), key: content.slice(space + 1) };
  return isId(bound.id) && IS_KEY[kind]?.(bound.key) ? bound : undefined;
}

function isTime(key: string): boolean {
  if (key === 'infinity') return true;
  return /^(?!0000)[0-9]{4}-/.test(key) && new Date(Date.parse(key) || 0).toISOString() === key;
}

function checksum(list: string, content: string): string {
  return crc32(`${list}\n${content}`).toString(16).padStart(8, '0');
}
