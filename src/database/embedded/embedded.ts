import { join } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import { PrismaPGlite } from 'pglite-prisma-adapter';
import type { Statement } from '../database';
import { PrismaClient } from '../generated/client';
import { PrismaDatabase } from '../prisma-database';
import { migrate } from '../setup/migrations';
import { MAJOR_VERSION, openCluster } from './cluster';
import { CLUSTER, makeDataDirectory } from './data-directory';
import { lockDirectory } from './directory-lock';

const INT8 = 20;
const TIMESTAMPTZ = 1184;
const TYPES = {
  parsers: { [INT8]: BigInt, [TIMESTAMPTZ]: parseTimestamp },
  serializers: { [TIMESTAMPTZ]: (value: Date | string) => (typeof value === 'string' ? value : value.toISOString()) },
};

/** PostgreSQL inside this process (PGlite), in a directory that this process owns while it is open. */
export class EmbeddedDatabase extends PrismaDatabase {
  constructor(
    private readonly engine: PGlite,
    description: string,
    private readonly unlock: () => void = () => undefined,
  ) {
    const adapter = new PrismaPGlite(engine);
    const transactionOptions = { maxWait: 5_000, timeout: 10_000 };
    super(new PrismaClient({ adapter, transactionOptions }), description);
  }

  /**
   * Opens `directory`, and creates it if needed.
   * @throws Error with a one-line message if another process has it open or it is from another PostgreSQL version.
   */
  static async open(directory: string): Promise<EmbeddedDatabase> {
    makeDataDirectory(directory);
    const unlock = lockDirectory(directory);
    let engine: PGlite | undefined;
    try {
      engine = await openCluster(join(directory, CLUSTER));
      await migrateOn(engine);
      return new EmbeddedDatabase(engine, `embedded PostgreSQL ${MAJOR_VERSION} in ${directory}`, unlock);
    } catch (error) {
      await engine?.close();
      unlock();
      throw error;
    }
  }

  async query<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    const result = await this.engine.query<Row>(statement.text, [...values], TYPES);
    return result.rows;
  }

  async ping(): Promise<void> {
    await this.engine.query('select 1');
  }

  async close(): Promise<void> {
    await this.prisma.$disconnect();
    if (!this.engine.closed) await this.engine.close();
    this.unlock();
  }
}

/** Applies pending migrations. */
export function migrateOn(engine: PGlite): Promise<void> {
  return migrate({
    script: async (sql) => void (await engine.exec(sql)),
    rows: async (sql, values) => (await engine.query<Record<string, unknown>>(sql, values)).rows,
  });
}

/** Converts `0099-01-02 03:04:05.678+00` to full ISO form; in any other form JavaScript guesses the century. */
function parseTimestamp(text: string): Date {
  return new Date(text.replace(' ', 'T').replace(/\+00$/, 'Z'));
}
