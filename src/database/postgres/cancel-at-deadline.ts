import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientBase, PoolClient } from 'pg';
import type { Deadline } from '../deadline';
import type { Release } from '../fair-semaphore';
import type { CancelRequests } from './cancel-request';
import { connectionOf, onServerError } from './connection-settings';

/** The delay before a cancel request is repeated, and the time limit for closing a connection, in milliseconds. */
const PATIENCE_MS = 1_000;
const ATTEMPTS = 2;

/** PostgreSQL documentation, appendix A: read_only_sql_transaction. */
const READ_ONLY = '25006';

/** The connections on which a write has failed because the server is read-only. */
const readOnly = new WeakSet<ClientBase>();

/**
 * Watches a new connection. If a write fails because the server is read-only, {@link cancelAtDeadline} closes the
 * connection on release.
 */
export function noteReadOnly(client: ClientBase): void {
  onServerError(client, (code) => {
    if (code === READ_ONLY) readOnly.add(client);
  });
}

/**
 * Cancels the statement on a checked-out connection at the deadline. The connection is then closed on release, since a late
 * cancel request could cancel the next statement on it. If the server ignores the cancel requests, the connection is
 * destroyed.
 * @param leave called when the connection is released. After a cancellation it is called when the connection is closed, so
 * that the server never has more connections than the pool.
 */
export function cancelAtDeadline(
  client: PoolClient,
  deadline: Deadline,
  requests: CancelRequests,
  leave: Release,
): void {
  const { release } = client;
  let isCancelled = false;
  let isReleased = false;
  const cancel = async () => {
    isCancelled = true;
    for (let attempt = 0; attempt < ATTEMPTS && !isReleased; attempt++) {
      requests.send(client, () => !isReleased);
      await sleep(PATIENCE_MS, undefined, { ref: false });
    }
    if (!isReleased) connectionOf(client).stream.destroy();
  };
  const stop = deadline.onEnd(() => void cancel());
  client.release = (error) => {
    stop();
    isReleased = true;
    release(error || isCancelled || readOnly.has(client));
    const { stream } = connectionOf(client);
    if (!isCancelled || stream.closed) return leave();
    stream.once('close', leave);
    setTimeout(() => stream.destroy(), PATIENCE_MS).unref();
  };
}
