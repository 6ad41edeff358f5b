import type { Client } from 'pg';
import type { Statement } from '../database';
import { runPrepared } from './prepared-query';

/**
 * If the server has not responded on a connection for this many milliseconds, the connection gets no new reads until the
 * server responds. New reads would wait behind a slow read.
 */
const SLOW_MS = 20;
/** Maximum number of reads waiting for one connection. */
const MOST_WAITING = 100;
/** How often to check whether the server is silent on a connection, in milliseconds. */
const CHECK_MS = 250;

/** One of the {@link SharedConnections}. */
export class SharedConnection {
  isOpen = false;
  /** Whether this connection is collecting reads, which it sends at the end of this turn of the event loop. */
  isGathering = false;
  /** Number of reads without a result yet. */
  waiting = 0;
  /** The time of the server's last response. A read that is sent while no other read is outstanding also resets this time. */
  private heardAt = 0;
  private readonly opened: Promise<void>;

  /**
   * @param silenceMs how long the server may be silent while reads wait, before the connection is destroyed; unlimited if
   * unset (see `Server.isRemote`).
   */
  constructor(
    private readonly client: Client,
    settings: string,
    private readonly silenceMs: number | undefined,
    onEnd: () => void,
  ) {
    // One timer serves all reads. The option `query_timeout` of node-postgres would start a timer for each read.
    const check = setInterval(() => {
      if (silenceMs && this.isSilentFor(silenceMs, performance.now())) client.connection.stream.destroy();
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
    const isSlow = this.silenceMs !== undefined && this.isSilentFor(SLOW_MS, now);
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
   * Sends the reads of this turn of the event loop in one socket write, which costs less than several writes.
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
