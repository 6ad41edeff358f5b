import { type Pool, TypeOverrides } from 'pg';
import type { PoolLoad, Statement, Written } from '../database';
import { onBehalfOf } from '../work/bounded-adapter';
import type { Work } from '../work/deadline';
import type { StatementKind } from '../work/prisma-database';
import { settled } from '../work/settled';
import { BoundedPool, type PoolBounds } from './bounded-pool';
import { connectionTo, ownConnection } from './connection-settings';
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

/** Maximum time limit of a read on a shared connection, in milliseconds, and its share of a request's time limit. */
const MAX_READ_MS = 1_000;
const READ_SHARE = 0.1;

/** How long questions about the server and its statements may take, in milliseconds. */
const CONTROL_MS = 1_000;

const INT8 = 20;
const DATE = 1082;

const types = new TypeOverrides();
types.setTypeParser(INT8, BigInt);
// In UTC, as Prisma and PGlite read it; node-postgres uses the process's time zone.
types.setTypeParser(DATE, (text) => new Date(text));

/** The connections to one server: those checked out one at a time, those shared by short reads, and one of its own. */
export class Connections {
  readonly pool: BoundedPool;
  private readonly control: Pool;
  private readonly shared: SharedConnections;

  constructor(url: string, { isTraced, ...bounds }: ConnectionsOptions) {
    const { size, connectMs, requestTimeoutMs } = bounds;
    const sharedSize = isTraced ? 0 : Math.min(MAX_SHARED, Math.floor(size * SHARE));
    const readMs = Math.min(MAX_READ_MS, Math.ceil(requestTimeoutMs * READ_SHARE));
    const config = { ...connectionTo(url), types };
    this.control = ownConnection(url, CONTROL_MS);
    const own = { ...bounds, size: size - sharedSize };
    this.pool = new BoundedPool({ ...config, idleTimeoutMillis: 30_000 }, own, this.control);
    this.shared = new SharedConnections(
      { ...config, connectionTimeoutMillis: connectMs },
      { size: sharedSize, readMs },
    );
  }

  get load(): PoolLoad {
    const { totalCount, idleCount, waiting } = this.pool;
    const { total, idle } = this.shared.load;
    return { total: totalCount + total, idle: idleCount + idle, waiting };
  }

  /** Runs one prepared statement. See {@link Session}. */
  run<Row>(
    work: Work,
    statement: Statement,
    values: readonly unknown[],
    kind: StatementKind,
    written?: Written<Row>,
  ): Promise<Row[]> {
    const { deadline } = work;
    const exact = values.map(exactDate);
    if (kind === 'short-read') {
      const { reason } = deadline;
      if (reason) return Promise.reject(reason);
      const rows = this.shared.query<Row>(statement, exact);
      if (rows) return rows;
    }
    return retrying(deadline, () => this.runAlone(work, statement, exact, kind, written));
  }

  /** Rejects if the server does not respond. */
  async ping(): Promise<void> {
    await this.control.query('select 1');
  }

  /** False on a standby, and where transactions are read-only by default. Rejects if the server does not respond. */
  async canWrite(): Promise<boolean> {
    const { rows } = await this.control.query("select current_setting('transaction_read_only') = 'off' as writable");
    return rows[0].writable;
  }

  async close(): Promise<void> {
    await this.shared.close();
    // If Prisma used the pool, it may have ended it already; otherwise idle connections would keep the process alive.
    if (!this.pool.ended) await this.pool.end();
    await this.control.end();
  }

  /** Runs it on a connection of its own. */
  private async runAlone<Row>(
    work: Work,
    statement: Statement,
    values: unknown[],
    kind: StatementKind,
    written?: Written<Row>,
  ): Promise<Row[]> {
    const client = await onBehalfOf(work, () => this.pool.connect());
    const running = runPrepared<Row>(client, statement, values, (isSpent) => client.release(isSpent));
    if (written) running.then(written, () => undefined);
    return settled(running, work.deadline, () => kind === 'write');
  }
}

/** node-postgres serialises dates in the process's time zone with offsets rounded to minutes: inexact before 1900. */
function exactDate(value: unknown): unknown {
  return value instanceof Date ? value.toISOString() : value;
}
