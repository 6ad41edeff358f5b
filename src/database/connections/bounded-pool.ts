import type { Socket } from 'node:net';
import { type Client, type ClientBase, Pool, type PoolClient, type PoolConfig } from 'pg';

export interface PoolBounds {
  /** Maximum number of connections. */
  readonly size: number;
  /** Maximum number of requests waiting for a connection; further ones are rejected immediately. */
  readonly queue: number;
  /** How long to wait for an idle or new connection, in milliseconds. */
  readonly connectMs: number;
  /** How long the server may stay silent while a connection is in use, in milliseconds. */
  readonly silenceMs: number;
  /** SQL that is run first on a new connection. */
  readonly settings: string;
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
    const { size, connectMs, silenceMs, settings } = bounds;
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

  /** @throws Error `53300` (too many connections) when the queue is full. */
  override connect(): Promise<PoolClient>;
  override connect(callback: Callback): void;
  override connect(callback?: Callback): Promise<PoolClient> | undefined {
    if (this.waitingCount >= this.bounds.queue) return refuse(callback);
    if (!callback) return super.connect();
    super.connect(callback);
    return undefined;
  }
}

function refuse(callback: Callback | undefined): Promise<PoolClient> | undefined {
  const error = Object.assign(new Error('too many requests are waiting for a connection'), { code: '53300' });
  if (!callback) return Promise.reject(error);
  callback(error, undefined, () => undefined);
  return undefined;
}

/** A pool's clients are all of this class, and so are their streams, unless its configuration says otherwise. */
function socketOf(client: ClientBase): Socket {
  return (client as Client).connection.stream as Socket;
}
