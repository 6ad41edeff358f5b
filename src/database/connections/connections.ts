import { TypeOverrides } from 'pg';
import type { PoolLoad, Statement } from '../database';
import { BoundedPool, type PoolBounds } from './bounded-pool';
import { connectionTo } from './connection-settings';
import { runPrepared } from './prepared-query';
import { retrying } from './retries';
import { SharedConnections } from './shared-connections';

export interface ConnectionsOptions extends PoolBounds {
  /** Whether each statement takes a connection of its own, so that its span does not include the wait for others. */
  readonly isTraced?: boolean;
}

/** Maximum number of connections shared by short reads, and their maximum share of all connections. */
const MAX_SHARED = 2;
const SHARE = 0.2;

/** Maximum time limit of a read on a shared connection, in milliseconds, and its share of a statement's time limit. */
const MAX_READ_MS = 1_000;
const READ_SHARE = 1 / 9;

const INT8 = 20;
const DATE = 1082;

const types = new TypeOverrides();
types.setTypeParser(INT8, BigInt);
// In UTC, as Prisma and PGlite read it; node-postgres uses the process's time zone.
types.setTypeParser(DATE, (text) => new Date(text));

/** The connections to one server: those checked out one at a time, and those shared by short reads. */
export class Connections {
  readonly pool: BoundedPool;
  private readonly shared: SharedConnections;

  constructor(url: string, { isTraced, ...bounds }: ConnectionsOptions) {
    const { size, connectMs, statementMs } = bounds;
    const sharedSize = isTraced ? 0 : Math.min(MAX_SHARED, Math.floor(size * SHARE));
    const readMs = Math.min(MAX_READ_MS, Math.ceil(statementMs * READ_SHARE));
    const config = { ...connectionTo(url), types };
    this.pool = new BoundedPool({ ...config, idleTimeoutMillis: 30_000 }, { ...bounds, size: size - sharedSize });
    this.shared = new SharedConnections(
      { ...config, connectionTimeoutMillis: connectMs },
      { size: sharedSize, readMs, statementMs },
    );
  }

  get load(): PoolLoad {
    const { totalCount, idleCount, waitingCount } = this.pool;
    const { total, idle } = this.shared.load;
    return { total: totalCount + total, idle: idleCount + idle, waiting: waitingCount };
  }

  /** Runs one prepared statement: see {@link Session.query}. */
  query<Row>(statement: Statement, values: readonly unknown[], isShortRead?: boolean): Promise<Row[]> {
    const exact = values.map(exactDate);
    const shared = isShortRead ? this.shared.query<Row>(statement, exact) : undefined;
    const run = () => retrying(() => this.run<Row>(statement, exact));
    // A read may be repeated whatever happened to it, anything else only if PostgreSQL has rolled it back.
    return shared ? shared.catch(run) : run();
  }

  async close(): Promise<void> {
    await this.shared.close();
    // If Prisma used the pool, it may have ended it already; otherwise idle connections would keep the process alive.
    if (!this.pool.ended) await this.pool.end();
  }

  /** Runs it on a connection of its own. */
  private async run<Row>(statement: Statement, values: unknown[]): Promise<Row[]> {
    const client = await this.pool.connect();
    return runPrepared<Row>(client, statement, values, (isSpent) => client.release(isSpent));
  }
}

/** node-postgres serialises dates in the process's time zone with offsets rounded to minutes: inexact before 1900. */
function exactDate(value: unknown): unknown {
  return value instanceof Date ? value.toISOString() : value;
}
