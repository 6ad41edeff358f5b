import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Extension, PGlite } from '@electric-sql/pglite';
import { PrismaPGlite } from 'pglite-prisma-adapter';
import type { Database, Session, Statement } from './database';
import { lockDirectory } from './directory-lock';
import { PrismaClient } from './generated/client';
import { migrate } from './migrations';
import { transaction } from './prisma-session';

/** PGlite 0.4 is PostgreSQL 17; it cannot open a directory of another major version. */
const MAJOR_VERSION = '17';
const INT8 = 20;
const TIMESTAMPTZ = 1184;
const TYPES = {
  parsers: { [INT8]: BigInt, [TIMESTAMPTZ]: parseTimestamp },
  serializers: {
    [TIMESTAMPTZ]: (value: Date | string) => (typeof value === 'string' ? value : value.toISOString()),
  },
};

interface PGliteModule {
  PGlite: typeof PGlite;
  pg_trgm: Extension;
}

/** PostgreSQL inside this process (PGlite), in a directory that belongs to this process while it is open. */
export class EmbeddedDatabase implements Database {
  readonly prisma: PrismaClient;

  constructor(
    private readonly engine: PGlite,
    readonly description: string,
    private readonly unlock: () => void = () => undefined,
  ) {
    this.prisma = new PrismaClient({ adapter: new PrismaPGlite(engine) });
  }

  /**
   * Opens `directory`, made if it is not there.
   * @throws Error in one line when another process has it open or when it is of another PostgreSQL version.
   */
  static async open(directory: string): Promise<EmbeddedDatabase> {
    mkdirSync(directory, { recursive: true });
    const unlock = lockDirectory(directory);
    try {
      const cluster = join(directory, 'postgres');
      refuseOtherVersion(cluster);
      const engine = await startEngine(cluster);
      await migrateOn(engine);
      return new EmbeddedDatabase(engine, `embedded PostgreSQL ${MAJOR_VERSION} in ${directory}`, unlock);
    } catch (error) {
      unlock();
      throw error;
    }
  }

  async query<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    const result = await this.engine.query<Row>(statement.text, values as unknown[], TYPES);
    return result.rows;
  }

  transaction<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return transaction(this.prisma, work);
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

/** Applies the migrations that the embedded database lacks. */
export function migrateOn(engine: PGlite): Promise<void> {
  return migrate({
    script: async (sql) => void (await engine.exec(sql)),
    rows: async (sql, values) => (await engine.query<Record<string, unknown>>(sql, values)).rows,
  });
}

/** Starts PGlite with the extensions that the migrations need; without a directory, in memory. */
export async function startEngine(directory?: string): Promise<PGlite> {
  const { PGlite: Engine, pg_trgm } =
    (globalThis as { pgliteModule?: PGliteModule }).pgliteModule ?? (await loadModule());
  const engine = await Engine.create({ ...(directory && { dataDir: directory }), extensions: { pg_trgm } });
  // Prisma writes and reads timestamps as if every session were in UTC; PGlite takes the zone of this process.
  await engine.exec("set timezone to 'UTC'");
  return engine;
}

async function loadModule(): Promise<PGliteModule> {
  const [{ PGlite }, { pg_trgm }] = await Promise.all([
    import('@electric-sql/pglite'),
    import('@electric-sql/pglite/contrib/pg_trgm'),
  ]);
  return { PGlite, pg_trgm } as unknown as PGliteModule;
}

/** `0099-01-02 03:04:05.678+00`, in full ISO form: of anything else JavaScript guesses the century. */
function parseTimestamp(text: string): Date {
  return new Date(text.replace(' ', 'T').replace(/\+00$/, 'Z'));
}

function refuseOtherVersion(cluster: string): void {
  let version: string;
  try {
    version = readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim();
  } catch {
    return; // a fresh directory
  }
  if (version === MAJOR_VERSION) return;
  throw new Error(
    `${cluster} holds a PostgreSQL ${version} database; this version of the gateway reads PostgreSQL ${MAJOR_VERSION}. ` +
      'Move it away, or open it with the version that made it and dump it.',
  );
}
