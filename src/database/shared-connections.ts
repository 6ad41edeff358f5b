import type { Socket } from 'node:net';
import { Client, type ClientConfig } from 'pg';
import { PreparedQuery } from './prepared-query';
import { statement } from './statement';
import { StatementGroup } from './statement-group';

/**
 * A connection that has been running one group for longer than this, in milliseconds, gets no more statements: they
 * would queue behind it.
 */
const STUCK_MS = 20;
/** Nor does one whose outstanding statements would take longer than this at its recent pace. */
const BUSY_MS = 10;
/** The weight of the latest group in a connection's pace. */
const LATEST = 1 / 8;
/** This many statements are sent before the turn ends: the server can start on them while this process continues. */
const ENOUGH = 8;
const RECONNECT_MS = 1_000;

export interface SharedConnectionsOptions {
  readonly size: number;
  /** How long the server may stay silent while it owes a response, in milliseconds. */
  readonly silenceMs: number;
  /**
   * How long a statement may wait for a lock, in milliseconds, before it is rolled back with its group; by default as
   * long as it may run.
   */
  readonly lockMs?: number;
  /** SQL that is run first on a new connection. */
  readonly settings: string;
}

/**
 * Connections shared by many quick statements. Statements issued in one turn of the event loop, or while a connection
 * is busy, are sent together as one transaction: one packet each way and one commit (group commit). For a process that
 * serves thousands of small requests, the socket write costs more than everything else it does for a statement; for the
 * server, the commit does.
 *
 * Nothing depends on these connections: if none is ready, or all have enough or something slow to do (a disk that is
 * slow to commit, a lock), {@link query} declines and the statement takes its own connection. The same happens after
 * another statement in its transaction failed.
 */
export class SharedConnections {
  private readonly open: SharedConnection[] = [];
  private connecting = 0;
  private triedAt = Number.NEGATIVE_INFINITY;
  private isClosed = false;

  constructor(
    private readonly config: ClientConfig,
    private readonly options: SharedConnectionsOptions,
  ) {}

  /** The number of connections, and of those with no outstanding statements. */
  get load(): { total: number; idle: number } {
    const idle = this.open.filter(({ waiting }) => waiting === 0);
    return { total: this.open.length, idle: idle.length };
  }

  /**
   * Returns the rows of a quick statement; `undefined` if it should take its own connection instead.
   * @param place its position within the transaction: statements that lock rows in id order cannot deadlock.
   * @throws UndoneError if the statement can be run again on its own.
   */
  query(query: PreparedQuery, place: bigint | null = null): Promise<unknown[]> | undefined {
    const connection = this.least();
    return connection?.isBusy ? undefined : connection?.query(query, place);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all(this.open.map(({ client }) => client.end()));
  }

  /** The connection whose next group is about to be sent, otherwise the one with the fewest outstanding statements. */
  private least(): SharedConnection | undefined {
    const now = performance.now();
    if (this.open.length + this.connecting < this.options.size && now - this.triedAt > RECONNECT_MS)
      void this.connect(now);
    let least: SharedConnection | undefined;
    for (const connection of this.open) {
      if (connection.isStuck(now)) continue;
      if (connection.isGathering && !connection.isAtWork) return connection;
      if (!least || connection.waiting < least.waiting) least = connection;
    }
    return least;
  }

  private async connect(now: number): Promise<void> {
    this.triedAt = now;
    this.connecting++;
    const client = new Client(this.config);
    // node-postgres rejects the waiting queries; without a listener the event would crash the process.
    client.on('error', () => this.drop(client)).on('end', () => this.drop(client));
    try {
      await client.connect();
      await client.query(this.options.settings);
      if (this.isClosed) throw new Error('closed while connecting');
      this.open.push(new SharedConnection(client, this.options));
    } catch {
      client.end().catch(() => undefined);
    } finally {
      this.connecting--;
    }
  }

  private drop(client: Client): void {
    const at = this.open.findIndex((connection) => connection.client === client);
    if (at >= 0) this.open.splice(at, 1);
  }
}

/** A statement to send. */
interface Asked {
  readonly query: PreparedQuery;
  readonly place: bigint | null;
}

class SharedConnection {
  /** Number of statements without a result yet. */
  waiting = 0;
  /** Whether the server is running a group. */
  isAtWork = false;
  /** Statements not sent yet. */
  private next: Asked[] = [];
  /** When the current or last group was sent. */
  private since = 0;
  /** Moving average of the server's time per statement, in milliseconds. */
  private pace = 0;
  private readonly socket: Socket;

  constructor(
    readonly client: Client,
    private readonly options: SharedConnectionsOptions,
  ) {
    // Missing from node-postgres' type definitions.
    this.socket = (client as unknown as { connection: { stream: Socket } }).connection.stream;
    this.socket.on('timeout', () => this.socket.destroy());
  }

  get isGathering(): boolean {
    return this.next.length > 0;
  }

  isStuck(now: number): boolean {
    return this.isAtWork && now - this.since > STUCK_MS;
  }

  get isBusy(): boolean {
    return this.waiting * this.pace > BUSY_MS;
  }

  query(query: PreparedQuery, place: bigint | null): Promise<unknown[]> {
    return new Promise((resolve, reject) => {
      query.callback = (error, result) => (error ? reject(error) : resolve(result.rows));
      this.waiting++;
      this.next.push({ query, place });
      if (this.isAtWork) return;
      if (this.next.length === 1) setImmediate(() => this.send());
      if (this.next.length === ENOUGH) this.send();
    });
  }

  /** Sends what has been queued since the last group, unless the server is still running that one. */
  private send(): void {
    if (this.isAtWork || !this.isGathering) return;
    this.isAtWork = true;
    const group = this.next.sort(byPlace);
    this.next = [];
    this.since = performance.now();
    this.socket.setTimeout(this.options.silenceMs);
    const queries = group.map(({ query }) => query);
    if (this.options.lockMs) queries.unshift(lockTimeout(this.options.lockMs));
    this.client.query(new StatementGroup(this.client, queries, () => this.goOn(group.length)));
  }

  /** @param done the number of statements in the last group. */
  private goOn(done: number): void {
    this.waiting -= done;
    const latest = (performance.now() - this.since) / done;
    // Network round-trip time is not the server's work, and hardly matters when several statements share it.
    if (done > 1 || latest < this.pace) this.pace += (latest - this.pace) * LATEST;
    this.isAtWork = false;
    if (this.isGathering) this.send();
    else this.socket.setTimeout(0);
  }
}

const LOCK_TIMEOUT = statement("select set_config('lock_timeout', $1, true)");

/** Local to the transaction: a pooler in between would pass a session setting on to other clients. */
function lockTimeout(ms: number): PreparedQuery {
  const query = new PreparedQuery(LOCK_TIMEOUT, [String(ms)]);
  query.callback = () => undefined;
  return query;
}

function byPlace({ place: a }: Asked, { place: b }: Asked): number {
  if (a === b || a === null) return a === b ? 0 : -1;
  return b === null || a > b ? 1 : -1;
}
