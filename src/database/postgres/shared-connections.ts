import type { Client, ClientConfig } from 'pg';
import type { Statement } from '../database';
import { failureOf } from '../failures';
import { settingsFor } from './connection-settings';
import type { PostgresServer } from './postgres-server';
import { runPrepared } from './prepared-query';

/** Minimum time before a lost connection is replaced, in milliseconds. The next read then opens a new connection. */
const RECONNECT_MS = 1_000;
/** If the server is silent for this long after the time limit of a read, in milliseconds, the connection counts as lost. */
const SILENCE_MS = 1_000;
/**
 * How long a read may wait for the lock of a table on a shared connection, in milliseconds. Later reads on the connection wait,
 * too, for each such read in turn.
 */
const LOCK_MS = 50;
/** A statement that was too slow must use the pool for this long, in milliseconds. */
const APART_MS = 10_000;

interface SharedConnectionsOptions {
  readonly size: number;
  /** How long a read may take on a shared connection, in milliseconds, before the server cancels it. */
  readonly readMs: number;
}

/**
 * Connections that many short reads share. node-postgres sends each read without waiting for earlier results (its `pipeline`
 * option). Each read still succeeds or fails alone. Reads of the same iteration of the event loop share one socket write. In a
 * process that serves thousands of small requests per second, the socket write is the most expensive part of a read.
 *
 * If no connection is ready, or all are busy or slow, {@link query} returns `undefined`, and the caller uses the pool instead.
 * The PostgreSQL server cancels a slow read, and a read that waits {@link LOCK_MS} for a lock. That read fails, and the later
 * reads of the connection run.
 *
 * The gateway does not cancel a read at its deadline, since a cancel request names the connection, not the read.
 */
export class SharedConnections {
  private readonly connections = new Set<SharedConnection>();
  /** The earliest time at which a connection may be opened again. */
  private reopensAt = 0;
  private isClosed = false;
  /** The names of statements that were too slow or met a lock, and when they may use shared connections again. */
  private readonly apart = new Map<string, number>();

  constructor(
    private readonly server: PostgresServer,
    private readonly config: ClientConfig,
    private readonly options: SharedConnectionsOptions,
  ) {}

  /** The number of all connections, and of connections without outstanding reads. */
  get load(): { total: number; idle: number } {
    const idle = [...this.connections].filter(({ isOpen, waiting }) => isOpen && waiting === 0);
    return { total: this.connections.size, idle: idle.length };
  }

  /**
   * Returns the rows of a short read; `undefined` if the caller must run the read on a connection from the pool. If the read
   * fails because of a lock (`isLocked`), the caller must run the read again in the pool.
   */
  query<Row>(statement: Statement, values: unknown[]): Promise<Row[]> | undefined {
    const now = performance.now();
    if (this.apart.size && (this.apart.get(statement.name) ?? 0) > now) return undefined;
    if (this.connections.size < this.options.size && now >= this.reopensAt && !this.isClosed) this.open();
    const rows = this.least(now)?.query<Row>(statement, values, now);
    return rows?.catch((error: unknown) => {
      if (failureOf(error) === 'timeout') this.keepApart(statement.name);
      throw error;
    });
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all([...this.connections].map((connection) => connection.close()));
  }

  private keepApart(name: string): void {
    const now = performance.now();
    for (const [each, until] of this.apart) if (until <= now) this.apart.delete(each);
    this.apart.set(name, now + APART_MS);
  }

  /** The connection that is already collecting reads to send, otherwise the connection with the fewest outstanding reads. */
  private least(now: number): SharedConnection | undefined {
    let least: SharedConnection | undefined;
    for (const connection of this.connections) {
      if (!connection.isReady(now)) continue;
      if (connection.isGathering) return connection;
      if (!least || connection.waiting < least.waiting) least = connection;
    }
    return least;
  }

  private open(): void {
    const { readMs } = this.options;
    const client = new this.server.Client({ ...this.config, pipeline: true });
    const settings = `${settingsFor(this.server, readMs)}; set lock_timeout to ${LOCK_MS}`;
    const connection = new SharedConnection(client, settings, readMs + SILENCE_MS, () => {
      this.connections.delete(connection);
      this.reopensAt = performance.now() + RECONNECT_MS;
    });
    this.connections.add(connection);
  }
}

/**
 * If the server has not responded on a connection for this many milliseconds, the connection gets no new reads until the server
 * responds. New reads would have to wait for a slow read.
 */
const SLOW_MS = 20;
/** Maximum number of reads waiting for one connection. */
const MOST_WAITING = 100;
/** How often to check whether the server is silent on a connection, in milliseconds. */
const CHECK_MS = 250;

/** One of the {@link SharedConnections}. */
class SharedConnection {
  isOpen = false;
  /** Whether this connection is collecting reads, which it sends at the end of this iteration of the event loop. */
  isGathering = false;
  /** Number of reads without a result yet. */
  waiting = 0;
  /** The time of the server's last response. A read that is sent while no other read is outstanding also resets this time. */
  private heardAt = 0;
  private readonly opened: Promise<void>;

  /**
   * @param silenceMs how long the server may be silent while reads wait, before the connection is destroyed.
   */
  constructor(
    private readonly client: Client,
    settings: string,
    silenceMs: number,
    onEnd: () => void,
  ) {
    // One timer serves all reads. The option `query_timeout` of node-postgres would start a timer for each read.
    const check = setInterval(() => {
      if (this.isSilentFor(silenceMs, performance.now())) client.connection.stream.destroy();
    }, CHECK_MS).unref();
    // node-postgres rejects the waiting reads; without a listener the event would crash the process.
    this.client.on('error', () => this.retire());
    this.client.on('end', () => {
      clearInterval(check);
      this.retire();
      onEnd();
    });
    this.opened = this.open(settings);
  }

  isReady(now: number): boolean {
    const isSlow = this.isSilentFor(SLOW_MS, now);
    return this.isOpen && !isSlow && this.waiting < MOST_WAITING;
  }

  private isSilentFor(ms: number, now: number): boolean {
    return this.waiting > 0 && now - this.heardAt > ms;
  }

  query<Row>(statement: Statement, values: unknown[], now: number): Promise<Row[]> {
    if (this.waiting === 0) this.heardAt = now;
    this.waiting++;
    this.gather();
    return runPrepared<Row>(this.client, statement, values, (isSpent) => {
      this.waiting--;
      this.heardAt = performance.now();
      if (isSpent) this.retire();
    });
  }

  /** Waits for outstanding reads, and closes the connection. */
  async close(): Promise<void> {
    await this.opened;
    this.isOpen = false;
    await this.client.end();
  }

  private async open(settings: string): Promise<void> {
    try {
      await this.client.connect();
      this.heardAt = performance.now();
      this.waiting++;
      await this.client.query(settings);
      this.waiting--;
      this.isOpen = true;
    } catch {
      void this.client.end();
    }
  }

  /** Accepts no more reads, and closes the connection after the outstanding reads. */
  private retire(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    void this.client.end();
  }

  /**
   * Sends the reads of this iteration of the event loop in one socket write, which costs less than several writes.
   * `connection.stream` is looked up each time, since TLS replaces the original socket.
   */
  private gather(): void {
    if (this.isGathering) return;
    this.isGathering = true;
    const { stream } = this.client.connection;
    stream.cork();
    setImmediate(() => {
      this.isGathering = false;
      stream.uncork();
    });
  }
}
