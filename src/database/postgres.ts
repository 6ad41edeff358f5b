import { PrismaPg } from '@prisma/adapter-pg';
import { Pool, type PoolConfig, types } from 'pg';
import type { Database, Session, Statement } from './database';
import { isTransient, reasonOf } from './failures';
import { PrismaClient } from './generated/client';
import { migrate } from './migrations';
import { transaction } from './prisma-session';

const INT8 = 20;

const typeParsers = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    return oid === INT8 ? BigInt : types.getTypeParser(oid, format);
  },
} as PoolConfig['types'];

/** A PostgreSQL server: one pool that Prisma and the prepared statements share. */
export class PostgresDatabase implements Database {
  readonly prisma: PrismaClient;

  private constructor(
    private readonly pool: Pool,
    readonly description: string,
  ) {
    this.prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
  }

  /**
   * Connects to `url` (`postgresql://…`) and applies what migrations it lacks.
   * @throws Error in one line that says where, without the password of `url`.
   */
  static async open(url: string): Promise<PostgresDatabase> {
    const pool = new Pool({
      connectionString: url,
      max: 10,
      connectionTimeoutMillis: 5_000,
      idleTimeoutMillis: 30_000,
      keepAlive: true,
      application_name: 'petstore-gateway',
      // Prisma writes and reads timestamps as if every session were in UTC, whatever the server's own zone is.
      onConnect: async (client) => void (await client.query("set timezone to 'UTC'")),
    });
    // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
    pool.on('error', () => undefined);
    const { host, pathname } = new URL(url);
    const description = `PostgreSQL at ${host}${pathname}`;
    try {
      await migrateOn(pool);
    } catch (error) {
      await pool.end();
      throw new Error(`${description} cannot be opened: ${reasonOf(error)}`, { cause: error });
    }
    return new PostgresDatabase(pool, description);
  }

  async query<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    const { name, text } = statement;
    const run = () => this.pool.query({ name, text, values: values.map(exactDate), types: typeParsers });
    const result = await run().catch((error) => {
      // A statement of its own that lost a deadlock has changed nothing: it is its own retry.
      if (!isTransient(error)) throw error;
      return run();
    });
    return result.rows as Row[];
  }

  transaction<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return transaction(this.prisma, work);
  }

  async ping(): Promise<void> {
    await this.pool.query('select 1');
  }

  async close(): Promise<void> {
    await this.prisma.$disconnect();
    // Not left to Prisma, which ends a pool only if it has used it; what is idle would keep the process alive.
    if (!this.pool.ended) await this.pool.end();
  }
}

/** node-postgres spells dates in the zone of this process, whose offset it rounds to minutes; before 1900 that is not exact. */
function exactDate(value: unknown): unknown {
  return value instanceof Date ? value.toISOString() : value;
}

/** On one connection, since the runner's lock belongs to it. */
async function migrateOn(pool: Pool): Promise<void> {
  const client = await pool.connect();
  try {
    await migrate({
      script: async (sql) => void (await client.query(sql)),
      rows: async (sql, values) => (await client.query(sql, values)).rows,
    });
  } finally {
    client.release();
  }
}
