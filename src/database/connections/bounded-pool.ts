import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, type ClientBase, Pool, type PoolClient, type PoolConfig } from 'pg';
import { currentUnit } from '../work/bounded-adapter';
import { Deadline, type Work } from '../work/deadline';
import { FairQueue, type Leave } from '../work/fair-queue';
import { settingsFor } from './connection-settings';

export interface PoolBounds {
  /** Maximum number of connections. */
  readonly size: number;
  /** Maximum number of statements and transactions waiting for a connection; further ones are rejected immediately. */
  readonly queue: number;
  /** How long to wait for a new connection, in milliseconds. */
  readonly connectMs: number;
  /** Time limit of a request, in milliseconds. */
  readonly requestTimeoutMs: number;
}

type Callback = (error: Error | undefined, client: PoolClient | undefined, done: () => void) => void;

/** A connection that is checked out, and the last request to cancel what runs on it. */
interface Held {
  isReleased: boolean;
  asked?: Promise<boolean>;
}

/** How much longer than the gateway the server waits before it ends what the gateway should have ended. */
const SLACK_MS = 1_000;

/** How often the server is asked again about a statement that it was to cancel. */
const ASK_AGAIN_MS = 1_000;

const CANCEL = "select pg_cancel_backend(pid) from pg_stat_activity where pid = $1 and state = 'active'";

/**
 * A pool whose connections are checked out on behalf of a piece of work, fairly among callers. When its deadline ends,
 * work that waits is dropped, and what runs is cancelled on the server. The connection is given back only when the fate
 * of its statement is known, so that the server never has more connections than the pool.
 */
export class BoundedPool extends Pool {
  private readonly queue: FairQueue;
  /** The process of each connection on the server. */
  private readonly backends = new WeakMap<ClientBase, number | undefined>();

  /** @param control on which the server is asked to cancel statements. */
  constructor(
    config: PoolConfig,
    private readonly bounds: PoolBounds,
    private readonly control: Pool,
  ) {
    const { size, connectMs, requestTimeoutMs } = bounds;
    super({
      ...config,
      max: size,
      connectionTimeoutMillis: connectMs,
      onConnect: async (client) => {
        // Each failure reaches the statement it concerns; without a listener the event would crash the process.
        client.on('error', () => undefined);
        const silent = setTimeout(() => streamOf(client).destroy(), connectMs);
        await client.query(settingsFor(requestTimeoutMs + SLACK_MS));
        const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
        clearTimeout(silent);
        this.backends.set(client, rows[0]?.pid);
      },
    });
    this.queue = new FairQueue(size, bounds.queue);
    // The pool replaces an idle connection that breaks; it reports that, too, with an event.
    this.on('error', () => undefined);
  }

  /** Number of statements and transactions that wait for a connection. */
  get waiting(): number {
    return this.queue.waiting;
  }

  /**
   * Takes a connection on behalf of the current work, or of the service.
   * @throws Ended if the work's deadline ends first; Error `53300` (too many connections) when the queue is full.
   */
  override connect(): Promise<PoolClient>;
  override connect(callback: Callback): void;
  override connect(callback?: Callback): Promise<PoolClient> | undefined {
    const taken = this.take(currentUnit() ?? { caller: '', deadline: new Deadline(this.bounds.requestTimeoutMs) });
    if (!callback) return taken;
    taken.then(
      (client) => callback(undefined, client, client.release),
      (error) => callback(error, undefined, () => undefined),
    );
    return undefined;
  }

  private async take(work: Work): Promise<PoolClient> {
    const leave = await this.queue.enter(work);
    const { deadline } = work;
    return new Promise((resolve, reject) => {
      const stop = deadline.onEnd(() => reject(deadline.reason));
      super.connect().then(
        (client) => {
          stop();
          this.hold(client, deadline, leave);
          // Nobody takes it any more, if the deadline has ended meanwhile.
          if (deadline.reason) client.release();
          else resolve(client);
        },
        (error) => {
          stop();
          leave();
          reject(error);
        },
      );
    });
  }

  /** Cancels what runs on the connection when the deadline ends. Such a connection is not used again. */
  private hold(client: PoolClient, deadline: Deadline, leave: Leave): void {
    const { release } = client;
    const held: Held = { isReleased: false };
    const stop = deadline.onEnd(() => void this.cancel(client, held));
    client.release = (isSpent) => {
      held.isReleased = true;
      stop();
      const giveBack = () => {
        release(held.asked ? true : isSpent);
        leave();
      };
      // A cancellation names the connection: it must not reach what runs there next.
      if (held.asked) void held.asked.then(giveBack);
      else giveBack();
    };
  }

  /** Asks the server to cancel what runs, until it has ended. If it runs no more, its response was lost. */
  private async cancel(client: PoolClient, held: Held): Promise<void> {
    while (!held.isReleased) {
      held.asked = this.control.query(CANCEL, [this.backends.get(client)]).then(
        ({ rowCount }) => rowCount === 1,
        () => false,
      );
      const isRunning = await held.asked;
      await sleep(ASK_AGAIN_MS, undefined, { ref: false });
      if (isRunning || held.isReleased) continue;
      streamOf(client).destroy();
      return;
    }
  }
}

/** A pool's clients are all of this class, unless its configuration says otherwise. */
function streamOf(client: ClientBase) {
  return (client as Client).connection.stream;
}
