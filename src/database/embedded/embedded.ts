import type { PGlite } from '@electric-sql/pglite';
import { PrismaPGlite } from 'pglite-prisma-adapter';
import type { Database, PoolLoad } from '../database';
import type { Work } from '../deadline';
import type { Command, Engine, OpenTransaction } from '../engine';
import { diskFull, failureOf } from '../failures';
import { FairSemaphore } from '../fair-semaphore';
import { GatewayDatabase } from '../gateway-database';
import { PrismaClient } from '../generated/client';
import { migrate } from '../migrations';
import type { PoolBounds } from '../postgres/bounded-pool';
import { reported } from '../settled';
import { BoundedAdapter } from './bounded-adapter';
import { connectionTo, MAJOR_VERSION, type OpenDirectory, openDirectory } from './cluster';
import { Upkeep } from './upkeep';

const INT8 = 20;
const TIMESTAMPTZ = 1184;
const TYPES = {
  parsers: { [INT8]: BigInt, [TIMESTAMPTZ]: parseTimestamp },
  serializers: { [TIMESTAMPTZ]: (value: Date | string) => (typeof value === 'string' ? value : value.toISOString()) },
};

type Bounds = Pick<PoolBounds, 'queue' | 'requestTimeoutMs'>;

/**
 * Opens the embedded database in `directory`, and creates it if needed.
 * @throws Error with a one-line message if another process has it open, it is from another PostgreSQL version, or its disk
 * is full.
 */
export async function openEmbedded(directory: string, bounds: Bounds): Promise<Database> {
  const opened = await openDirectory(directory);
  try {
    await migrate(connectionTo(opened.engine));
    return embeddedDatabase(opened.engine, `embedded PostgreSQL ${MAJOR_VERSION} in ${directory}`, bounds, opened);
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** @param files where it is kept; `undefined` if it is in memory. */
export function embeddedDatabase(
  engine: PGlite,
  description: string,
  { requestTimeoutMs, queue }: Bounds,
  files?: OpenDirectory,
): Database {
  const embedded = new EmbeddedEngine(engine, queue, requestTimeoutMs, files);
  return new GatewayDatabase(embedded, description, requestTimeoutMs);
}

/** PostgreSQL inside this process (PGlite), in a directory that this process owns while it is open. */
class EmbeddedEngine implements Engine {
  /** Statements and transactions run one at a time. */
  private readonly queue: FairSemaphore;
  private readonly adapter: BoundedAdapter;
  readonly prisma: PrismaClient;
  private readonly upkeep: Upkeep;
  /** Whether PostgreSQL refuses to write, since there is no room. */
  private isFull = false;

  /** @param queue maximum number of statements and transactions that wait for their turn. */
  constructor(
    private readonly engine: PGlite,
    queue: number,
    requestTimeoutMs: number,
    private readonly files?: OpenDirectory,
  ) {
    this.queue = new FairSemaphore(1, queue);
    this.adapter = new BoundedAdapter(new PrismaPGlite(engine));
    // Prisma's own limits: ours, of which it knows nothing, end first.
    const limit = 2 * requestTimeoutMs;
    this.prisma = new PrismaClient({
      adapter: this.adapter,
      errorFormat: 'minimal',
      transactionOptions: { maxWait: limit, timeout: limit },
    });
    this.upkeep = new Upkeep(engine, () => files?.space.isEnough() ?? true);
  }

  run<Row>(work: Work, { statement, values, kind, written }: Command<Row>): Promise<Row[]> {
    return this.inTurn(work, kind === 'write', async () => {
      const { rows } = await this.engine.query<Row>(statement.text, [...values], TYPES);
      written?.(rows);
      return rows;
    });
  }

  /** A statement that has begun cannot be cancelled: it ends, and its true outcome is reported. */
  async transact<T>(work: Work, run: (transaction: OpenTransaction) => Promise<T>, onCommit: () => void): Promise<T> {
    const unit = { ...work };
    const begin = async () => {
      const result = await this.prisma.$transaction((prisma) =>
        run({ prisma, query: ({ text }, values) => prisma.$queryRawUnsafe(text, ...values) }),
      );
      onCommit();
      return result;
    };
    try {
      return await this.inTurn(unit, true, () => this.adapter.transact(unit, begin));
    } catch (error) {
      throw reported(error, unit.deadline, false);
    }
  }

  private async inTurn<T>(work: Work, mayWrite: boolean, run: () => Promise<T>): Promise<T> {
    const leave = await this.queue.acquire(work);
    try {
      if (mayWrite) await this.prepareToWrite();
      return await run();
    } catch (error) {
      throw this.isFull && failureOf(error) === 'read-only' ? diskFull(error) : error;
    } finally {
      leave();
    }
  }

  /** Lets PostgreSQL refuse to write while there is no room, and from then on write again. Transactions may also only read. */
  private async prepareToWrite(): Promise<void> {
    this.upkeep.isDue = true;
    if (!this.files || this.files.space.isEnough() !== this.isFull) return;
    await this.engine.exec(`set default_transaction_read_only to ${!this.isFull}`);
    this.isFull = !this.isFull;
  }

  get load(): PoolLoad {
    return { total: 1, idle: this.queue.idle, waiting: this.queue.waiting };
  }

  async canWrite(): Promise<boolean> {
    await this.engine.query('select 1');
    return this.files?.space.isEnough() ?? true;
  }

  async close(): Promise<void> {
    this.upkeep.stop();
    await this.prisma.$disconnect();
    await (this.files ?? this.engine).close();
  }
}

/** Converts `0099-01-02 03:04:05.678+00` to full ISO form; in any other form JavaScript guesses the century. */
function parseTimestamp(text: string): Date {
  return new Date(text.replace(' ', 'T').replace(/\+00$/, 'Z'));
}
