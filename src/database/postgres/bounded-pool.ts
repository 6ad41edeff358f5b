import { setTimeout as sleep } from 'node:timers/promises';
import { type ClientBase, type ClientConfig, Pool, type PoolClient, type PoolConfig } from 'pg';
import { type Requester, SERVICE } from '../database';
import { Deadline } from '../deadline';
import { notOpened } from '../failures';
import { FairSemaphore, type Release } from '../fair-semaphore';
import type { Cancellations } from './cancellations';
import { connectionOf, onServerError, setUp } from './connection-settings';
import type { PostgresServer } from './postgres-server';

export interface PoolBounds {
  /** Maximum number of connections. */
  readonly poolSize: number;
  /** Maximum number of statements and transactions waiting for a connection; further requests are rejected immediately. */
  readonly queue: number;
  /** Time limit for opening a connection, in milliseconds. */
  readonly connectMs: number;
  /** Time limit of a request, in milliseconds. */
  readonly requestTimeoutMs: number;
}

/**
 * PostgreSQL documentation, appendix A: `feature_not_supported` (the result type of a prepared statement has changed), and
 * `invalid_sql_statement_name` (the prepared statement is lost).
 */
const STALE = ['0A000', '26000'];

/** The delay before a cancel request is repeated, and the time limit for closing a connection, in milliseconds. */
const PATIENCE_MS = 1_000;
const ATTEMPTS = 2;

/** PostgreSQL documentation, appendix A: read_only_sql_transaction. */
const READ_ONLY = '25006';

/** The connections on which a write has failed because the server is read-only. */
const readOnly = new WeakSet<ClientBase>();

type Callback = (error: Error | undefined, client: PoolClient | undefined, done: () => void) => void;

/**
 * A connection pool that is fair among callers. At the deadline, a waiting request is dropped, and a running statement is
 * cancelled on the server. The connection's slot is released only when the statement has ended or the connection is closed. So
 * the server never has more connections than the pool allows.
 */
export class BoundedPool extends Pool {
  private readonly queue: FairSemaphore;
  /** When each connection was opened, in `performance.now()` time. */
  private readonly openedAt = new WeakMap<ClientBase, number>();
  /** Connections that were opened earlier are closed instead of used. */
  private freshSince = 0;

  /**
   * @param settings the SQL that a new connection runs first.
   * @param slotsForOneCaller maximum number of connections that one caller holds at the same time.
   */
  constructor(
    server: PostgresServer,
    private readonly cancellations: Cancellations,
    config: Omit<PoolConfig, 'Client'>,
    settings: string,
    private readonly bounds: PoolBounds,
    slotsForOneCaller: number,
  ) {
    const { poolSize, connectMs } = bounds;
    super({
      ...config,
      // The time limit is set for each client. The pool's own time limit would start a timer even when the pool hands out an
      // idle connection.
      Client: class extends server.Client {
        constructor(given?: ClientConfig) {
          super({ ...given, connectionTimeoutMillis: connectMs });
        }
      },
      max: poolSize,
      onConnect: async (client) => {
        this.openedAt.set(client, performance.now());
        await setUp(client, settings, connectMs);
        noteReadOnly(client);
        // A statement that is out of date on one connection is out of date on all connections that prepared it.
        onServerError(client, (code) => {
          if (STALE.includes(code)) this.freshSince = performance.now();
        });
      },
    });
    this.queue = new FairSemaphore(poolSize, slotsForOneCaller, bounds.queue);
    // The pool replaces a broken idle connection. Without a listener, its `error` event would crash the process.
    this.on('error', () => undefined);
  }

  /** Number of statements and transactions that wait for a connection. */
  get waiting(): number {
    return this.queue.waiting;
  }

  /** Takes a connection for a short statement of the service itself. Prisma's adapter calls this method. */
  override connect(): Promise<PoolClient>;
  override connect(callback: Callback): void;
  override connect(callback?: Callback): Promise<PoolClient> | undefined {
    const taken = this.take({ callerId: SERVICE, deadline: new Deadline(this.bounds.requestTimeoutMs) });
    if (!callback) return taken;
    taken.then(
      (client) => callback(undefined, client, client.release),
      (error) => callback(error, undefined, () => undefined),
    );
    return undefined;
  }

  /**
   * Takes a connection.
   * @throws Ended if the deadline passes first; Error `53300` (too many connections) if the queue is full, or already
   * holds the maximum number of this caller's requests.
   */
  take(requester: Requester): Promise<PoolClient> {
    const { deadline } = requester;
    return new Promise((resolve, reject) => {
      const enter = (leave: Release) => {
        // If a connection is idle and no earlier request waits for it, the pool hands it out in this iteration of the event loop.
        // So usually no listener for the deadline is needed.
        const stop = this.idleCount > this.waitingCount ? undefined : deadline.onEnd(() => reject(deadline.reason));
        const onConnect: Callback = (error, client) => {
          if (client && (this.openedAt.get(client) ?? 0) < this.freshSince) {
            client.release(true);
            return super.connect(onConnect);
          }
          stop?.();
          if (!client) {
            leave();
            return reject(notOpened(error));
          }
          cancelAtDeadline(client, deadline, this.cancellations, leave);
          if (!deadline.reason) return resolve(client);
          client.release();
          reject(deadline.reason);
        };
        super.connect(onConnect);
      };
      const entered = this.queue.acquire(requester);
      if (entered instanceof Promise) entered.then(enter, reject);
      else enter(entered);
    });
  }
}

/**
 * Watches a new connection. If a write fails because the server is read-only, {@link cancelAtDeadline} closes the
 * connection on release.
 */
function noteReadOnly(client: ClientBase): void {
  onServerError(client, (code) => {
    if (code === READ_ONLY) readOnly.add(client);
  });
}

/**
 * Cancels the statement on a checked-out connection at the deadline. If the cancellation may not be over on release, the
 * connection is closed, since its next statement could be cancelled. If the server ignores the cancellation, the connection is
 * destroyed.
 * @param leave called when the connection is released; if it is closed, when it is closed. So the server never has more
 * connections than the pool.
 */
function cancelAtDeadline(client: PoolClient, deadline: Deadline, cancellations: Cancellations, leave: Release): void {
  const { release } = client;
  const started: Promise<boolean>[] = [];
  let isReleased = false;
  const cancel = async () => {
    for (let attempt = 0; attempt < ATTEMPTS && !isReleased; attempt++) {
      started.push(cancellations.cancel(client, () => !isReleased));
      await sleep(PATIENCE_MS, undefined, { ref: false });
    }
    if (!isReleased) connectionOf(client).stream.destroy();
  };
  const keep = (error?: Error | boolean) => {
    release(error || readOnly.has(client));
    leave();
  };
  const close = () => {
    release(true);
    const { stream } = connectionOf(client);
    if (stream.closed) return leave();
    stream.once('close', leave);
    setTimeout(() => stream.destroy(), PATIENCE_MS).unref();
  };
  const stop = deadline.onEnd(() => void cancel());
  client.release = (error) => {
    stop();
    isReleased = true;
    if (!started.length) return keep(error);
    if (error) return close();
    void Promise.all(started).then((areOver) => (areOver.includes(false) ? close() : keep()));
  };
}
