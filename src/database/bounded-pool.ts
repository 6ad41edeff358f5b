import type { Socket } from 'node:net';
import { Pool, type PoolClient, type PoolConfig } from 'pg';

export interface PoolBounds {
  /** Connections at most. */
  readonly size: number;
  /** How many may wait for a connection; who comes after them is refused at once. */
  readonly queue: number;
  /** How long to wait for a connection, free or new, in milliseconds. */
  readonly connectMs: number;
  /** How long the server may keep silent while a connection is in use. */
  readonly silenceMs: number;
  /** What a new connection is told first. */
  readonly settings: string;
}

type Callback = (error: Error | undefined, client: PoolClient | undefined, done: () => void) => void;

/**
 * A pool that keeps nobody waiting without bound: not for a connection, not for a statement (the server cancels it), and
 * not for a server that has gone without a word. A connection that breaks is replaced by the next one that is needed.
 */
export class BoundedPool extends Pool {
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
        socketOf(client)
          .setTimeout(connectMs)
          .on('timeout', function (this: Socket) {
            this.destroy();
          });
        await client.query(settings);
      },
    });
    this.on('acquire', (client) => socketOf(client).setTimeout(silenceMs));
    this.on('release', (_error, client) => socketOf(client).setTimeout(0));
    // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
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
  const error = Object.assign(new Error('too many requests wait for a connection'), { code: '53300' });
  if (!callback) return Promise.reject(error);
  callback(error, undefined, () => undefined);
  return undefined;
}

/** node-postgres' own types keep it to themselves. */
function socketOf(client: object): Socket {
  return (client as { connection: { stream: Socket } }).connection.stream;
}
