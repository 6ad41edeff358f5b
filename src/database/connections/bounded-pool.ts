import type { Socket } from 'node:net';
import { type Client, type ClientBase, Pool, type PoolClient, type PoolConfig } from 'pg';
import { connectionTo, sessionOf } from './connection-settings';

export interface PoolBounds {
  /** Maximum number of connections. */
  readonly size: number;
  /** Maximum number of statements and transactions waiting for a connection; further ones are rejected immediately. */
  readonly queue: number;
  /** How long to wait for an idle or new connection, in milliseconds. */
  readonly connectMs: number;
  /** Time limit of a statement, in milliseconds. */
  readonly statementMs: number;
}

type Callback = (error: Error | undefined, client: PoolClient | undefined, done: () => void) => void;

/**
 * A pool in which every wait is bounded: for a connection, for a statement (cancelled by the server), and for a server
 * that has stopped responding. Broken connections are replaced on demand.
 */
export class BoundedPool extends Pool {
  /** Connections that are not checked out: they may be silent. */
  private readonly unused = new WeakSet<ClientBase>();

  constructor(
    config: PoolConfig,
    private readonly bounds: PoolBounds,
  ) {
    const { size, connectMs, statementMs } = bounds;
    const { silenceMs, settings } = sessionOf(statementMs);
    super({
      ...config,
      max: size,
      connectionTimeoutMillis: connectMs,
      onConnect: async (client) => {
        // Each failure reaches the statement it concerns; without a listener the event would crash the process.
        client.on('error', () => undefined);
        const socket = socketOf(client).on('timeout', () => {
          if (!this.unused.has(client)) socket.destroy();
        });
        socket.setTimeout(connectMs);
        await client.query(settings);
        // Once and for all: to set it for each statement costs 3 % of a small request.
        socket.setTimeout(silenceMs);
      },
    });
    this.on('acquire', (client) => this.unused.delete(client));
    this.on('release', (_error, client) => this.unused.add(client));
    // The pool replaces an idle connection that breaks; it reports that, too, with an event.
    this.on('error', () => undefined);
  }

  /** A pool of one connection, which is kept: a busy server is not mistaken there for one that is down or lags. */
  static ofOne(url: string, statementMs: number, connectMs: number): BoundedPool {
    const bounds = { size: 1, queue: 1, connectMs, statementMs };
    return new BoundedPool({ ...connectionTo(url), idleTimeoutMillis: 0 }, bounds);
  }

  /** @throws Error `53300` (too many connections) when the queue is full. */
  override connect(): Promise<PoolClient>;
  override connect(callback: Callback): void;
  override connect(callback?: Callback): Promise<PoolClient> | undefined {
    const isFull = this.waitingCount >= this.bounds.queue;
    if (!callback) return isFull ? Promise.reject(tooMany()) : super.connect();
    if (isFull) callback(tooMany(), undefined, () => undefined);
    else super.connect(callback);
    return undefined;
  }
}

function tooMany(): Error {
  return Object.assign(new Error('too many requests are waiting for a connection'), { code: '53300' });
}

/** A pool's clients are all of this class, and so are their streams, unless its configuration says otherwise. */
function socketOf(client: ClientBase): Socket {
  return (client as Client).connection.stream as Socket;
}
