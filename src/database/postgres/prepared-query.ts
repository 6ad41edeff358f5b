import { type ClientBase, Query, type ResultBuilder } from 'pg';
import type { Statement } from '../database';
import { failureOf } from '../failures';

/** What a prepared statement takes on the server, and each character of its text, as measured on PostgreSQL 15. */
const STATEMENT_BYTES = 14_000;
const CHARACTER_BYTES = 25;
/** Maximum bytes of prepared statements per connection: callers choose what is read, and under which names. */
const MOST_BYTES = 8_000_000;
/** Longer texts are not prepared, but parsed in each run. */
const MOST_CHARACTERS = 8_000;

/** What each connection has prepared: the statements' names, and the bytes that they take. */
const prepared = new WeakMap<ClientBase, { readonly names: Set<string>; bytes: number }>();

/**
 * Runs a statement, which is prepared on its first run on a connection unless it is very long.
 * @param done called with whether the connection must be closed: it has prepared many statements, it is lost, or an
 * error that is not one of the known failures leaves in doubt what is prepared on it.
 */
export function runPrepared<Row>(
  client: ClientBase,
  { name: known, text }: Statement,
  values: unknown[],
  done: (isSpent: boolean) => void,
): Promise<Row[]> {
  const { name, isFull } = notePrepared(client, known, text);
  let isDone = false;
  return new Promise((resolve, reject) => {
    const onResult = (error: Error | undefined, result: ResultBuilder) => {
      // If a value cannot be encoded, node-postgres calls back again later.
      if (isDone) return;
      isDone = true;
      if (!error) {
        done(isFull);
        return resolve(result.rows);
      }
      const failure = failureOf(error);
      done(isFull || failure === undefined || failure === 'unavailable');
      reject(error);
    };
    // Of an object with these members node-postgres makes a copy first, which takes longer than all the rest of it.
    client.query(Object.assign(new Query(text, values, onResult), { name }));
  });
}

/**
 * Notes that a connection prepares a statement.
 * @param name of the statement; empty if it is not to be prepared.
 * @returns its name, unless it is not prepared, and whether the connection has prepared as much as it may.
 */
export function notePrepared(client: ClientBase, name: string, text: string): { name?: string; isFull: boolean } {
  if (!name || text.length > MOST_CHARACTERS) return { isFull: false };
  let all = prepared.get(client);
  if (!all) {
    all = { names: new Set(), bytes: 0 };
    prepared.set(client, all);
  }
  if (!all.names.has(name)) {
    all.names.add(name);
    all.bytes += STATEMENT_BYTES + CHARACTER_BYTES * text.length;
  }
  return { name, isFull: all.bytes >= MOST_BYTES };
}

/** node-postgres serialises dates in the process's time zone with offsets rounded to minutes: inexact before 1900. */
export function exactDate(value: unknown): unknown {
  return value instanceof Date ? value.toISOString() : value;
}
