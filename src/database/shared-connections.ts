import type { Socket } from 'node:net';
import { Client, type ClientConfig } from 'pg';
import { PreparedQuery } from './prepared-query';
import { statement } from './statement';
import { StatementGroup } from './statement-group';

/** A connection that is at one group of statements for longer, in milliseconds, takes no more: they would wait behind it. */
const STUCK_MS = 20;
/** Nor does one that has so much to do already, at its pace of late. */
const BUSY_MS = 10;
/** How much of a connection's pace its last group makes. */
const LATEST = 1 / 8;
/** So many leave before the turn has ended: the server begins with them while this process goes on. */
const ENOUGH = 8;
const RECONNECT_MS = 1_000;

export interface SharedConnectionsOptions {
  readonly size: number;
  /** How long the server may keep silent with something to answer, in milliseconds. */
  readonly silenceMs: number;
  /** How long a statement may wait for a lock, in milliseconds, before it is undone with its group; else as long as it may take. */
  readonly lockMs?: number;
  /** What a new connection is told first. */
  readonly settings: string;
}

/**
 * Connections that many quick statements share. What is asked for in one turn of the event loop, or while a connection is at
 * work, leaves together, and is one transaction: one packet there and one back, one commit (group commit). To a process that
 * serves thousands of small requests, to write to a socket costs more than everything else that it does for a statement, and
 * to the server, to commit.
 *
 * Nothing depends on them: where none is ready, or those that are have enough or something slow to do (a disk that takes
 * its time to commit, a lock), {@link query} declines, and the statement takes a connection of its own. So it does when
 * another one failed that it shared a transaction with.
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

  /** Connections in all, and those of them that wait for nothing. */
  get load(): { total: number; idle: number } {
    const idle = this.open.filter(({ waiting }) => waiting === 0);
    return { total: this.open.length, idle: idle.length };
  }

  /**
   * The rows of a quick statement; `undefined` where it should rather take a connection of its own.
   * @param place in its transaction: what locks rows in the order of their ids waits for nobody who waits for it.
   * @throws UndoneError where it may be run again alone.
   */
  query(query: PreparedQuery, place: bigint | null = null): Promise<unknown[]> | undefined {
    const connection = this.least();
    return connection?.isBusy ? undefined : connection?.query(query, place);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all(this.open.map(({ client }) => client.end()));
  }

  /** The one whose next group is about to leave, else the one that has least to do. */
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
    // Whoever waits is told by node-postgres; an event that nobody listens to would end the process.
    client.on('error', () => this.drop(client)).on('end', () => this.drop(client));
    try {
      await client.connect();
      await client.query(this.options.settings);
      if (this.isClosed) throw new Error('closed meanwhile');
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

/** What is to be sent. */
interface Asked {
  readonly query: PreparedQuery;
  readonly place: bigint | null;
}

class SharedConnection {
  /** Statements that have not been answered yet. */
  waiting = 0;
  /** Whether the server is at a group. */
  isAtWork = false;
  /** Statements that have not been sent. */
  private next: Asked[] = [];
  /** Since when it is, or was. */
  private since = 0;
  /** How long the server was at one statement lately, in milliseconds. */
  private pace = 0;
  private readonly socket: Socket;

  constructor(
    readonly client: Client,
    private readonly options: SharedConnectionsOptions,
  ) {
    // node-postgres' own types keep it to themselves.
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

  /** Sends what has been asked for since the last group left, unless the server is still at that. */
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

  /** @param done how many statements the last group had. */
  private goOn(done: number): void {
    this.waiting -= done;
    const latest = (performance.now() - this.since) / done;
    // The way there and back is no work of the server's, and hardly counts where it is shared.
    if (done > 1 || latest < this.pace) this.pace += (latest - this.pace) * LATEST;
    this.isAtWork = false;
    if (this.isGathering) this.send();
    else this.socket.setTimeout(0);
  }
}

const LOCK_TIMEOUT = statement("select set_config('lock_timeout', $1, true)");

/** For one transaction: what is set for longer, a pooler in between would hand on to others. */
function lockTimeout(ms: number): PreparedQuery {
  const query = new PreparedQuery(LOCK_TIMEOUT, [String(ms)]);
  query.callback = () => undefined;
  return query;
}

function byPlace({ place: a }: Asked, { place: b }: Asked): number {
  if (a === b || a === null) return a === b ? 0 : -1;
  return b === null || a > b ? 1 : -1;
}
