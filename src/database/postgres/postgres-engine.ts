import { PrismaPg } from '@prisma/adapter-pg';
import type { Pool } from 'pg';
import type { PoolLoad, Requester, Statement } from '../database';
import { settled } from '../deadline';
import type { BoundStatement, Engine, OpenTransaction, TransactionEnd } from '../engine';
import { failureOf, isLocked } from '../failures';
import { connectionsOfOneCaller } from '../fair-semaphore';
import { PrismaClient } from '../generated/client';
import { COLUMNS } from '../generated/columns';
import { retrying } from '../retries';
import { UNNAMED } from '../statement';
import { BoundedPool, type PoolBounds } from './bounded-pool';
import { Cancellations } from './cancellations';
import { openProbe, settingsFor } from './connection-settings';
import type { PostgresServer } from './postgres-server';
import { exactDate, runPrepared, valueTypes as types } from './prepared-query';
import { PrismaClientPool } from './prisma-client-pool';
import { SharedConnections } from './shared-connections';
import { PostgresTransaction } from './transaction';

/** Short reads share at most this many connections, and at most this fraction of all connections. */
const MAX_SHARED = 2;
const SHARE = 0.2;

/**
 * A read on a shared connection may take at most this many milliseconds, and at most this fraction of a request's time
 * limit.
 */
const MAX_READ_MS = 1_000;
const READ_SHARE = 0.1;

/**
 * The server's time limit for a statement is this many milliseconds longer than the gateway's limit. So the gateway's limit
 * usually applies first.
 */
const SLACK_MS = 1_000;

/** How long an idle connection stays open, in milliseconds. */
const IDLE_MS = 30_000;

/** Selects one row. Its column `yes` is true if the server accepts writes. */
export const TAKES_WRITES = "select current_setting('transaction_read_only') = 'off' as yes";

/** All columns of the tables, as `table.column`. */
const COLUMN_NAMES = Object.values(COLUMNS).flatMap((table) => Object.values(table).map(({ sql }) => sql));

/**
 * Fails if the server rejects the gateway's statements: with 54000 if its transaction ids are used up, with 42P01 or 42703 if a
 * table or column is missing, and with 42501 if the role lacks a privilege. Privileges may be granted column by column.
 */
const REJECTS_NOTHING = `do $$ declare lacking text; begin
  perform pg_current_xact_id() where current_setting('transaction_read_only') = 'off';
  with columns as (
    select split_part(name, '.', 1)::regclass as id, split_part(name, '.', 2) as name
      from unnest('{${COLUMN_NAMES.join()}}'::text[]) name
  ), tables as (select distinct id from columns)
  select into lacking string_agg(missing, ', ') from (
    select needed || ' on ' || id || '.' || name from columns, unnest('{select,insert,update}'::text[]) needed
      where not has_column_privilege(id, name, needed)
    union all
    select 'delete on ' || id from tables where not has_table_privilege(id, 'delete')
    union all
    select 'usage on ' || sequence.relname from tables
      join pg_depend depend on depend.refobjid = tables.id and depend.deptype in ('a', 'i')
      join pg_class sequence on sequence.oid = depend.objid
      where depend.classid = 'pg_class'::regclass
        and case sequence.relkind when 'S' then not has_sequence_privilege(sequence.oid, 'usage') end
  ) privileges (missing);
  if lacking is not null then
    raise exception 'the role lacks the privileges %', lacking using errcode = '42501';
  end if;
end $$`;

/**
 * The connections to one server. A pooled connection runs one statement or transaction at a time. A few other connections
 * are shared by short reads. The pooled and shared connections together are at most `poolSize`. One additional connection
 * checks whether the server responds, and cancels statements.
 */
export class PostgresEngine implements Engine {
  readonly prisma: PrismaClient;
  private readonly pool: BoundedPool;
  private readonly prismaClients = new PrismaClientPool();
  private readonly probe: Pool;
  private readonly shared: SharedConnections;

  constructor(
    private readonly server: PostgresServer,
    bounds: PoolBounds,
  ) {
    const { poolSize, connectMs, requestTimeoutMs } = bounds;
    // Shared connections need a `statement_timeout` that lasts for the session. A pooler in transaction mode does not keep
    // such a setting.
    const sharedSize = server.isPooled ? 0 : Math.min(MAX_SHARED, Math.floor(poolSize * SHARE));
    const readMs = Math.min(MAX_READ_MS, Math.ceil(requestTimeoutMs * READ_SHARE));
    this.probe = openProbe(server);
    this.pool = new BoundedPool(
      server,
      new Cancellations(() => server.configNow(), this.probe),
      { types, idleTimeoutMillis: IDLE_MS, pipeline: true },
      settingsFor(server, requestTimeoutMs + SLACK_MS),
      { ...bounds, poolSize: poolSize - sharedSize },
      connectionsOfOneCaller(poolSize),
    );
    this.prisma = new PrismaClient({ adapter: new PrismaPg(this.pool), errorFormat: 'minimal' });
    const config = { types, connectionTimeoutMillis: connectMs };
    this.shared = new SharedConnections(server, config, { size: sharedSize, readMs });
  }

  get load(): PoolLoad {
    const { totalCount, idleCount, waiting } = this.pool;
    const { total, idle } = this.shared.load;
    return { total: totalCount + total, idle: idleCount + idle, waiting };
  }

  run<Row>(requester: Requester, boundStatement: BoundStatement<Row>): Promise<Row[]> {
    const { deadline } = requester;
    const { statement, kind } = boundStatement;
    const values = boundStatement.values.map(exactDate);
    if (kind === 'short-read') {
      const { reason } = deadline;
      if (reason) return Promise.reject(reason);
      const rows = this.shared.query<Row>(statement, values);
      if (rows)
        return rows.catch((error) => {
          if (failureOf(error) !== 'stale' && !isLocked(error)) throw error;
          return this.runInPool(requester, boundStatement, values);
        });
    }
    return this.runInPool(requester, boundStatement, values);
  }

  private runInPool<Row>(requester: Requester, boundStatement: BoundStatement<Row>, values: unknown[]): Promise<Row[]> {
    return retrying(requester.deadline, () => this.runAlone(requester, boundStatement, values));
  }

  async transact<T>(
    requester: Requester,
    run: (transaction: OpenTransaction) => Promise<T>,
    end: TransactionEnd,
  ): Promise<T> {
    const { deadline } = requester;
    const client = await this.pool.take(requester);
    const unnamedIfPooled = (statement: Statement) => this.unnamedIfPooled(statement);
    const transaction = new PostgresTransaction(client, deadline, this.prismaClients, unnamedIfPooled);
    return settled(transaction.run(run, end), deadline, () => transaction.isCommitting);
  }

  /**
   * Resolves to false on a standby, or if transactions are read-only by default. Rejects if the server does not respond, or
   * rejects the gateway's statements.
   */
  async canWrite(): Promise<boolean> {
    const client = await this.probe.connect();
    let canWrite = false;
    try {
      const { rows } = await client.query<{ yes: boolean }>(TAKES_WRITES);
      await client.query(REJECTS_NOTHING);
      canWrite = rows[0]?.yes === true;
    } finally {
      // Closes a connection to a read-only server, since a new connection may reach the new primary after a failover.
      client.release(!canWrite);
    }
    return canWrite;
  }

  async close(): Promise<void> {
    await this.shared.close();
    await this.prismaClients.close();
    await this.prisma.$disconnect();
    await this.pool.end();
    await this.probe.end();
  }

  /** Behind a pooler, statements are not prepared, since the next transaction may run on another server connection. */
  private unnamedIfPooled(statement: Statement): Statement {
    return this.server.isPooled ? { name: UNNAMED, text: statement.text } : statement;
  }

  /** Runs a statement on a connection from the pool. The connection runs nothing else at the same time. */
  private async runAlone<Row>(
    requester: Requester,
    boundStatement: BoundStatement<Row>,
    values: unknown[],
  ): Promise<Row[]> {
    const { statement, kind, onWritten } = boundStatement;
    const client = await this.pool.take(requester);
    const running = runPrepared<Row>(client, this.unnamedIfPooled(statement), values, (isSpent) =>
      client.release(isSpent),
    );
    if (onWritten) running.then(onWritten, () => undefined);
    return settled(running, requester.deadline, () => kind === 'write');
  }
}
