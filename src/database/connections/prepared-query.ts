import type { ClientBase } from 'pg';
import type { Statement } from '../database';
import { failureOf } from '../failures';

/** Maximum statements per connection: callers choose what is read, and each takes about 16 kB on the server. */
const MOST = 500;

/** The names of the statements that each connection has prepared. */
const prepared = new WeakMap<ClientBase, Set<string>>();

/**
 * Runs a statement, which is prepared on its first run on a connection.
 * @param done called with whether the connection must be closed: it has prepared many statements, it is lost, or an
 * error that is not one of the known failures leaves in doubt what is prepared on it.
 */
export function runPrepared<Row>(
  client: ClientBase,
  { name, text }: Statement,
  values: unknown[],
  done: (isSpent: boolean) => void,
): Promise<Row[]> {
  const names = prepared.get(client) ?? new Set();
  prepared.set(client, names.add(name));
  let isDone = false;
  return new Promise((resolve, reject) => {
    client.query({ name, text, values }, (error: Error | null, result) => {
      // If a value cannot be encoded, node-postgres calls back again later.
      if (isDone) return;
      isDone = true;
      const isFull = names.size >= MOST;
      if (!error) {
        done(isFull);
        return resolve(result.rows);
      }
      const failure = failureOf(error);
      done(isFull || failure === undefined || failure === 'unavailable');
      reject(error);
    });
  });
}
