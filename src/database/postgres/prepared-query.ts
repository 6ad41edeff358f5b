import { type ClientBase, Query, type ResultBuilder, TypeOverrides } from 'pg';
import type { Statement } from '../database';
import { failureOf, leavesUnclear } from '../failures';
import { callAtIterationEnd } from '../iteration-end';

/** The server's memory for a prepared statement, and for each character of its text (bench/README.md). */
const STATEMENT_BYTES = 14_000;
const CHARACTER_BYTES = 25;
/**
 * Maximum memory of prepared statements per connection. Callers choose columns and aliases, so there may be many statements.
 */
export const MOST_BYTES = 8_000_000;
/** Longer texts are not prepared, but parsed in each run. */
export const MOST_CHARACTERS = 8_000;

const INT8 = 20;
const INT8_ARRAY = 1016;
const DATE = 1082;

/** How values of rows are read. */
export const valueTypes = new TypeOverrides();
valueTypes.setTypeParser(INT8, BigInt);
valueTypes.setTypeParser(INT8_ARRAY, (text) => text.match(/-?\d+/g)?.map(BigInt) ?? []);
// Dates are in UTC, as Prisma reads them. node-postgres would use the process's time zone.
valueTypes.setTypeParser(DATE, (text) => new Date(text));

/** The names of the statements that each connection has prepared, and their estimated memory. */
const prepared = new WeakMap<ClientBase, { readonly names: Set<string>; bytes: number }>();

/**
 * Runs a statement. The first run on a connection prepares the statement, unless it has no name or is very long.
 * @param done called when the statement has ended. `isSpent` tells whether the connection must be closed: it has prepared
 * too many statements, it is lost, or the error is unknown. After an unknown error it is unclear which statements are
 * prepared.
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
      // If a value cannot be encoded, node-postgres calls this function twice.
      if (isDone) return;
      isDone = true;
      if (!error) {
        done(isFull);
        return callAtIterationEnd(() => resolve(result.rows));
      }
      const failure = failureOf(error);
      done(isFull || leavesUnclear(failure));
      reject(error);
    };
    // Passes a `Query`, since node-postgres would copy a plain object. The copy would take longer than the rest of this
    // call.
    client.query(Object.assign(new Query(text, values, onResult), { name }));
  });
}

/**
 * Records that a connection prepares a statement.
 * @param name the name of the statement; empty if it must not be prepared.
 * @returns the name if the statement is prepared, and whether the connection has reached its memory limit for prepared
 * statements.
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
    all.bytes += memoryOf(text);
  }
  return { name, isFull: all.bytes >= MOST_BYTES };
}

/** The server's estimated memory for a prepared statement, in bytes. */
export function memoryOf(text: string): number {
  return STATEMENT_BYTES + CHARACTER_BYTES * text.length;
}

/**
 * Serializes a date in UTC. node-postgres uses local time with an offset rounded to minutes, which is inexact before 1900.
 */
export function exactDate(value: unknown): unknown {
  return value instanceof Date ? value.toISOString() : value;
}
