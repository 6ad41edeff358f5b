import { crc32 } from 'node:zlib';
import type { Bound } from '../database/select';

/**
 * An opaque cursor: the order key and id of a row, with a checksum over them and over the list and order that they
 * belong to. The checksum tells a damaged or foreign cursor from a good one; it is no secret.
 * @param list what the cursor pages through: `pets NAME desc`.
 */
export function encodeCursor(list: string, { key, id }: Bound): string {
  const content = `${id} ${key}`;
  return Buffer.from(`${checksum(list, content)}${content}`).toString('base64url');
}

/** The bound of a cursor of this list; `undefined` for everything else. */
export function decodeCursor(list: string, cursor: string): Bound | undefined {
  const bytes = Buffer.from(cursor, 'base64url');
  const text = bytes.toString();
  const content = text.slice(8);
  const space = content.indexOf(' ');
  if (space < 1 || bytes.toString('base64url') !== cursor || text.slice(0, 8) !== checksum(list, content)) {
    return undefined;
  }
  return { id: content.slice(0, space), key: content.slice(space + 1) };
}

function checksum(list: string, content: string): string {
  return crc32(`${list}\n${content}`).toString(16).padStart(8, '0');
}
