import { Client, type ClientConfig } from 'pg';
import type { Statement } from '../database';
import { runPrepared } from './prepared-query';

/**
 * A connection that has been silent for this long, in milliseconds, gets no more reads: they would wait behind a slow
 * one.
 */
const SLOW_MS = 20;
/** Maximum number of reads waiting for one connection. */
const MOST_WAITING = 100;
/** A lost connection is replaced by the first read after this time, in milliseconds. */
const RECONNECT_MS = 1_000;

export interface SharedConnectionsOptions {
  readonly size: number;
  /** How long a read may take here, in milliseconds, before its connection is given up. */
  readonly readMs: number;
  /** How long the server goes on with a statement whose connection was given up, in milliseconds. */
  readonly statementMs: number;
  /** SQL that is run first on a new connection. */
  readonly settings: string;
}

/**
 * Connections that many short reads share: node-postgres sends each without waiting for the results of those before it
 * (its `pipeline` option), and each still succeeds or fails alone. For a process that serves thousands of small
 * requests, the socket write costs more than everything else it does for a read.
 *
 * Nothing depends on these connections: if none is ready, or all have enough or something slow to do, {@link query}
 * declines, and the read takes a connection of its own. The same is to be done if it fails here: the reason may be
 * another read, which was too slow, or a lost connection.
 *
 * The time limit of reads is the client's, not the server's `statement_timeout`: a pooler in between would pass such a
 * setting on to other statements.
 */
export class SharedConnections {
  private readonly connections = new Set<SharedConnection>();
  /** When a connection may be opened again. */
  private reopensAt = 0;
  private isClosed = false;

  constructor(
    private readonly config: ClientConfig,
    private readonly options: SharedConnectionsOptions,
  ) {}

  /** The number of connections, and of those with no outstanding reads. */
  get load(): { total: number; idle: number } {
    const idle = [...this.connections].filter(({ isOpen, waiting }) => isOpen && waiting === 0);
    return { total: this.connections.size, idle: idle.length };
  }

  /** Returns the rows of a short read; `undefined` if it should take a connection of its own. */
  query<Row>(statement: Statement, values: unknown[]): Promise<Row[]> | undefined {
    const now = performance.now();
    if (this.connections.size < this.options.size && now >= this.reopensAt && !this.isClosed) this.open();
    return this.least(now)?.query(statement, values, now);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all([...this.connections].map((connection) => connection.close()));
  }

  /** The connection that is about to send others, otherwise the one with the fewest outstanding reads. */
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
    const { readMs, statementMs, settings } = this.options;
    const config = { ...this.config, pipeline: true, query_timeout: readMs };
    const connection = new SharedConnection(config, settings, () => {
      this.connections.delete(connection);
      const pause = connection.isGivenUp ? statementMs : RECONNECT_MS;
      this.reopensAt = Math.max(this.reopensAt, performance.now() + pause);
    });
    this.connections.add(connection);
  }
}

class SharedConnection {
  isOpen = false;
  /** Whether reads are collected, to be sent at the end of this turn of the event loop. */
  isGathering = false;
  /** Whether a read took so long that the server may still be running it. */
  isGivenUp = false;
  /** Number of reads without a result yet. */
  waiting = 0;
  /** When the server last responded, or, if nothing was outstanding, was last sent something. */
  private heardAt = 0;
  private readonly client: Client;
  private readonly opened: Promise<void>;

  constructor(config: ClientConfig, settings: string, onEnd: () => void) {
    this.client = new Client(config);
    // node-postgres rejects the waiting reads; without a listener the event would crash the process.
    this.client.on('error', () => this.retire());
    this.client.on('end', () => {
      this.retire();
      onEnd();
    });
    this.opened = this.open(settings);
  }

  isReady(now: number): boolean {
    const isSlow = this.waiting > 0 && now - this.heardAt > SLOW_MS;
    return this.isOpen && !isSlow && this.waiting < MOST_WAITING;
  }

  query<Row>(statement: Statement, values: unknown[], now: number): Promise<Row[]> {
    if (this.waiting === 0) this.heardAt = now;
    this.waiting++;
    this.gather();
    return runPrepared<Row>(this.client, statement, values, (isSpent, failure) => {
      this.waiting--;
      this.heardAt = performance.now();
      if (failure === 'timeout') this.isGivenUp = true;
      if (isSpent) this.retire();
    });
  }

  /** Waits for outstanding reads. */
  async close(): Promise<void> {
    await this.opened;
    this.isOpen = false;
    await this.client.end();
  }

  private async open(settings: string): Promise<void> {
    try {
      await this.client.connect();
      await this.client.query(settings);
      this.isOpen = true;
    } catch {
      void this.client.end();
    }
  }

  /** Takes no more reads, and ends after the outstanding ones. */
  private retire(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    void this.client.end();
  }

  /** One write costs less than several. */
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
