import type { PGlite } from '@electric-sql/pglite';

/**
 * Runs pg_dump on the embedded database.
 *
 * The package removes every line of the output that begins with `\restrict` or `\unrestrict`, also inside a string. With such a
 * line in a name, the dump would lack text, or even the end of the string, so that other text became SQL. Therefore pg_dump
 * reads values with a second backslash wherever a line begins with one, and the output gets the single backslash back.
 * @returns SQL.
 */
export async function pgDump(engine: PGlite, args: string[]): Promise<string> {
  // See `startEngine` for `import`.
  const tools = (await import('@electric-sql/pglite-tools/pg_dump')) as object;
  const { pgDump: run } = tools as typeof import('@electric-sql/pglite-tools/pg_dump');
  const file = await run({ pg: withDoubledBackslashes(engine), args });
  return (await file.text()).replace(/([\n\r\u2028\u2029])\\/g, '$1');
}

/** The database for pg_dump, which runs each statement by `execProtocolRawStream`. */
function withDoubledBackslashes(engine: PGlite): PGlite {
  return {
    query: (text: string) => engine.query(text),
    exec: (text: string) => engine.exec(text),
    execProtocolRawStream: (message: Uint8Array, { onRawData }: { onRawData(data: Uint8Array): void }) => {
      const received: Uint8Array[] = [];
      const done = engine.execProtocolRawStream(message, { onRawData: (data) => received.push(data.slice()) });
      onRawData(doubleBackslashes(Buffer.concat(received)));
      return done;
    },
  } as unknown as PGlite;
}

const DATA_ROW = 'D'.charCodeAt(0);
/** A line terminator of JavaScript and a backslash, as bytes of UTF-8 in Latin-1. */
const LINE_START = /(\n|\r|\xe2\x80[\xa8\xa9])\\/g;

/** @param messages whole messages of PostgreSQL's protocol: a byte for the kind, the length, and the content. */
function doubleBackslashes(messages: Buffer): Buffer {
  const changed: Buffer[] = [];
  for (let start = 0; start < messages.length; ) {
    const end = start + 1 + messages.readInt32BE(start + 1);
    const message = messages.subarray(start, end);
    changed.push(messages[start] === DATA_ROW ? doubleInRow(message) : message);
    start = end;
  }
  return Buffer.concat(changed);
}

/** @param row the kind, the length, the number of values, and each value with its length, which is -1 for null. */
function doubleInRow(row: Buffer): Buffer {
  if (!row.includes('\\')) return row;
  const parts = [Buffer.from(row.subarray(0, 7))];
  for (let at = 7; at < row.length; ) {
    const length = row.readInt32BE(at);
    const end = at + 4 + Math.max(length, 0);
    const value = Buffer.from(row.toString('latin1', at + 4, end).replace(LINE_START, '$1\\\\'), 'latin1');
    const size = Buffer.alloc(4);
    size.writeInt32BE(length < 0 ? length : value.length);
    parts.push(size, value);
    at = end;
  }
  const changed = Buffer.concat(parts);
  changed.writeInt32BE(changed.length - 1, 1);
  return changed;
}
