import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, ClientBase, PoolClient } from 'pg';
import type { Cancellation } from '../../postgres/cancellation';
import { connectionOf } from '../../postgres/database-server';
import type { Deadline } from '../work/deadline';
import type { Leave } from '../work/fair-queue';

/** How often the server is asked again about a statement that it was to cancel. */
const ASK_AGAIN_MS = 1_000;

/** PostgreSQL documentation, appendix A: read_only_sql_transaction. */
const READ_ONLY = '25006';

/** The connections on which a write has failed because the server is read-only. */
const readOnly = new WeakSet<ClientBase>();

/** Lets {@link hold} replace a new connection once a write fails on it because the server is read-only. */
export function noteReadOnly(client: ClientBase): void {
  connectionOf(client).on('errorMessage', ({ code }: { code?: string }) => {
    if (code === READ_ONLY) readOnly.add(client);
  });
}

/**
 * Cancels what runs on a connection that was checked out, when the deadline ends. The connection is given back only when the
 * fate of what ran is known, and used again only if the server has answered both the statement and the cancellation: it
 * forgets one that reaches an idle connection, but one on its way would cancel what runs there next.
 * @param leave called when the connection is given back.
 */
export function hold(client: PoolClient, deadline: Deadline, cancellation: Cancellation, leave: Leave): void {
  const { release } = client;
  let isReleased = false;
  let asked: Promise<boolean | undefined> | undefined;
  const ask = async () => {
    while (!isReleased) {
      asked = cancellation.cancel(client).catch(() => undefined);
      const isRunning = await asked;
      await sleep(ASK_AGAIN_MS, undefined, { ref: false });
      if (isRunning || isReleased) continue;
      // Its response was lost, or the server is.
      connectionOf(client).stream.destroy();
      return;
    }
  };
  const stop = deadline.onEnd(() => void ask());
  client.release = (error) => {
    const isSpent = error || readOnly.has(client);
    isReleased = true;
    stop();
    const giveBack = (answer: boolean | undefined) => {
      const isIdle = (client as Client).getTransactionStatus() === 'I';
      release(isSpent || answer === undefined || !cancellation.isOver || !isIdle);
      leave();
    };
    if (asked) void asked.then(giveBack);
    else {
      release(isSpent);
      leave();
    }
  };
}
