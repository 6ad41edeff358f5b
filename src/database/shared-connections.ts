import type { Socket } from 'node:net';
import { Client, type ClientConfig } from 'pg';
import type { PreparedQuery } from './prepared-query';

/** A connection that is at one statement for longer, in milliseconds, takes no more: they would wait behind it. */
const STUCK_MS = 20;
/** Nor does one that has so much to do already, at its pace of late. */
const BUSY_MS = 10;
/** How much of a connection's pace its last statement makes. */
const LATEST = 1 / 8;
const RECONNECT_MS = 1_000;

export interface SharedConnectionsOptions {
  readonly size: number;
  /** How long the server may keep silent with something to answer, in milliseconds. */
  readonly silenceMs: number;
  /** What a new connection is told first. */
  readonly settings: string;
}

/**
 * Connections that many quick statements share: none waits for the answer to the one before (pipelining), and all that are
 * asked for in one turn of the event loop leave in one packet. To a process that serves thousands of small requests, a write
 * to a socket costs more than everything else that it does for a statement. Each statement is a transaction of its own.
 *
 * Nothing depends on them: where none is ready, or those that are have enough or something slow to do (a disk that takes
 * its time to commit, a lock), {@link query} declines, and the statement takes a connection of its own.
 */
export class SharedConnections {
  private readonly open: SharedConnection[] = [];
  private connecting = 0;
  private triedAt = Number.NEGATIVE_INFINITY;
  private isClosed = false;
  /** Where this turn's statements go. */
  private current: SharedConnection | undefined;

  constructor(
    private readonly config: ClientConfig,
    private readonly options: SharedConnectionsOptions,
  ) {}

  /** Connections in all, and those of them that wait for nothing. */
  get load(): { total: number; idle: number } {
    const idle = this.open.filter(({ waiting }) => waiting === 0);
    return { total: this.open.length, idle: idle.length };
  }

  /** The rows of a quick statement; `undefined` where it should rather take a connection of its own. */
  query(statement: PreparedQuery): Promise<unknown[]> | undefined {
    this.current ??= this.begin();
    return this.current?.isBusy ? undefined : this.current?.query(statement);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all(this.open.map(({ client }) => client.end()));
  }

  private begin(): SharedConnection | undefined {
    const now = performance.now();
    if (this.open.length + this.connecting < this.options.size && now - this.triedAt > RECONNECT_MS)
      void this.connect(now);
    let least: SharedConnection | undefined;
    for (const connection of this.open)
      if (!connection.isStuck(now) && (!least || connection.waiting < least.waiting)) least = connection;
    least?.gather(() => {
      this.current = undefined;
    });
    return least;
  }

  private async connect(now: number): Promise<void> {
    this.triedAt = now;
    this.connecting++;
    const client = new Client({ ...this.config, pipeline: true });
    // Whoever waits is told by node-postgres; an event that nobody listens to would end the process.
    client.on('error', () => this.drop(client)).on('end', () => this.drop(client));
    try {
      await client.connect();
      await client.query(this.options.settings);
      if (this.isClosed) throw new Error('closed meanwhile');
      this.open.push(new SharedConnection(client, this.options.silenceMs));
    } catch {
      client.end().catch(() => undefined);
    } finally {
      this.connecting--;
    }
  }

  private drop(client: Client): void {
    const at = this.open.findIndex((connection) => connection.client === client);
    if (at >= 0) this.open.splice(at, 1);
    if (this.current?.client === client) this.current = undefined;
  }
}

class SharedConnection {
  /** Statements that have not been answered yet. */
  waiting = 0;
  /** Since when the server is at the first of them. */
  private since = 0;
  /** How long the server was at one lately, in milliseconds; the way there and back does not count where others wait. */
  private pace = 0;
  /** Whether the server has answered since nothing was waiting. */
  private isUnderWay = false;
  private readonly socket: Socket;

  constructor(
    readonly client: Client,
    private readonly silenceMs: number,
  ) {
    // node-postgres' own types keep it to themselves.
    this.socket = (client as unknown as { connection: { stream: Socket } }).connection.stream;
    this.socket.on('timeout', () => this.socket.destroy());
  }

  isStuck(now: number): boolean {
    return this.waiting > 0 && now - this.since > STUCK_MS;
  }

  get isBusy(): boolean {
    return this.waiting * this.pace > BUSY_MS;
  }

  /** Holds back what is written until the end of this turn of the event loop, and then calls `done`. */
  gather(done: () => void): void {
    this.socket.cork();
    setImmediate(() => {
      done();
      this.socket.uncork();
    });
  }

  query(statement: PreparedQuery): Promise<unknown[]> {
    return new Promise((resolve, reject) => {
      if (this.waiting++ === 0) this.start();
      this.client.query(statement, (error, result) => {
        this.took(performance.now());
        if (--this.waiting === 0) this.socket.setTimeout(0);
        if (error) reject(error);
        else resolve(result.rows);
      });
    });
  }

  private took(now: number): void {
    const latest = now - this.since;
    if (this.isUnderWay || latest < this.pace) this.pace += (latest - this.pace) * LATEST;
    this.isUnderWay = true;
    this.since = now;
  }

  private start(): void {
    this.isUnderWay = false;
    this.since = performance.now();
    this.socket.setTimeout(this.silenceMs);
  }
}
