import { createReadStream, createWriteStream, renameSync, rmSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { BATCH, type Footer, type Part } from './parts';

/**
 * Writes a backup: JSON, a value on each line, compressed by gzip. It has its name once it is complete, and is for its owner alone,
 * since it has the hashes of keys and the answers to requests.
 */
export async function writeBackup(
  file: string,
  parts: AsyncIterable<Part>,
  onProgress: (done: number, total: number) => void,
): Promise<Footer['sums']> {
  let sums: Footer['sums'] = {};
  async function* lines() {
    let done = 0;
    let total = 0;
    let current = '';
    for await (const part of parts) {
      if ('rows' in part) {
        if (part.table !== current) yield `${JSON.stringify({ table: part.table })}\n`;
        current = part.table;
        yield `${part.rows.join('\n')}\n`;
        done += part.rows.length;
        onProgress(done, Math.max(done, total));
      } else {
        if ('header' in part) total = part.header.estimate;
        else sums = part.footer.sums;
        yield `${JSON.stringify(part)}\n`;
      }
    }
  }
  const unfinished = `${file}.unfinished`;
  try {
    await pipeline(Readable.from(lines()), createGzip({ level: 4 }), createWriteStream(unfinished, { mode: 0o600 }));
    renameSync(unfinished, file);
  } finally {
    rmSync(unfinished, { force: true });
  }
  return sums;
}

/** Reads a backup. @throws Error with a one-line message if it is not one, or damaged. */
export async function* readBackup(file: string): AsyncGenerator<Part> {
  const source = createReadStream(file);
  const unzipped = source.pipe(createGunzip());
  source.on('error', (error) => unzipped.destroy(error));
  let table = '';
  let rows: string[] = [];
  let bytes = 0;
  const batch = (): Part => {
    const part = { table, rows };
    rows = [];
    bytes = 0;
    return part;
  };
  for await (const line of linesOf(unzipped.setEncoding('utf8'))) {
    if (line.startsWith('[')) {
      rows.push(line);
      bytes += line.length;
      if (rows.length >= BATCH.rows || bytes >= BATCH.bytes) yield batch();
      continue;
    }
    if (rows.length) yield batch();
    const value = JSON.parse(line);
    if (value.table) table = value.table;
    else yield value;
  }
}

/** By line feeds alone: for `readline` other characters that names may have end a line, too. */
async function* linesOf(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const text of texts) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest) yield rest;
}
