import { join } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import { PrismaPGlite } from 'pglite-prisma-adapter';
import type { PoolLoad } from '../database';
import { diskFull, failureOf } from '../failures';
import { PrismaClient } from '../generated/client';
import { migrate } from '../migrations';
import { BoundedAdapter, type Unit } from '../work/bounded-adapter';
import type { Work } from '../work/deadline';
import { FairQueue } from '../work/fair-queue';
import { type Command, PrismaDatabase } from '../work/prisma-database';
import { reported } from '../work/settled';
import { connectionTo, MAJOR_VERSION, type OpenDirectory, openDirectory } from './cluster';
import { CLUSTER } from './data-directory';
import { OnlineCopy } from './online-copy';
import { Upkeep } from './upkeep';

const INT8 = 20;
const TIMESTAMPTZ = 1184;
const TYPES = {
  parsers: { [INT8]: BigInt, [TIMESTAMPTZ]: parseTimestamp },
  serializers: { [TIMESTAMPTZ]: (value: Date | string) => (typeof value === 'string' ? value : value.toISOString()) },
};

export interface EmbeddedOptions {
  /** How long a request may take, in milliseconds. */
  readonly requestTimeoutMs?: number;
  /** Maximum number of statements and transactions that wait for their turn. */
  readonly queue?: number;
}

/** PostgreSQL inside this process (PGlite), in a directory that this process owns while it is open. */
export class EmbeddedDatabase extends PrismaDatabase {
  /** Statements and transactions run one at a time. */
  private readonly queue: FairQueue;
  private readonly upkeep: Upkeep;
  /** Whether PostgreSQL refuses to write, since there is no room. */
  private isFull = false;

  private readonly onlineCopy: OnlineCopy | undefined;

  /** @param files where it is kept; `undefined` if it is in memory. */
  constructor(
    private readonly engine: PGlite,
    description: string,
    { requestTimeoutMs = 10_000, queue = 1000 }: EmbeddedOptions = {},
    private readonly files?: OpenDirectory & { readonly directory: string },
  ) {
    // Prisma's own limits: ours, of which it knows nothing, end first.
    const limit = 2 * requestTimeoutMs;
    const adapter = new BoundedAdapter(new PrismaPGlite(engine));
    super(
      new PrismaClient({ adapter, transactionOptions: { maxWait: limit, timeout: limit } }),
      adapter,
      description,
      requestTimeoutMs,
    );
    this.queue = new FairQueue(1, queue);
    this.upkeep = new Upkeep(engine, () => files?.space.isEnough() ?? true);
    this.onlineCopy = files && new OnlineCopy(engine, this.upkeep, join(files.directory, CLUSTER), files.directory);
  }

  /**
   * Opens `directory`, and creates it if needed.
   * @throws Error with a one-line message if another process has it open, it is from another PostgreSQL version, or its disk
   * is full.
   */
  static async open(directory: string, options: EmbeddedOptions = {}): Promise<EmbeddedDatabase> {
    const opened = await openDirectory(directory);
    const { engine, unlock } = opened;
    try {
      await migrate(connectionTo(engine));
      const description = `embedded PostgreSQL ${MAJOR_VERSION} in ${directory}`;
      return new EmbeddedDatabase(engine, description, options, { directory, ...opened });
    } catch (error) {
      await engine.close();
      unlock();
      throw error;
    }
  }

  protected async run<Row>(work: Work, { statement, values, kind, written }: Command<Row>): Promise<Row[]> {
    const leave = await this.queue.enter(work);
    try {
      if (kind === 'write') await this.prepareToWrite();
      const { rows } = await this.engine.query<Row>(statement.text, [...values], TYPES);
      written?.(rows);
      return rows;
    } catch (error) {
      throw this.explained(error);
    } finally {
      leave();
    }
  }

  /** A statement that has begun cannot be cancelled: it ends, and its true outcome is reported. */
  protected async perform<T>(unit: Unit, run: () => Promise<T>): Promise<T> {
    const leave = await this.queue.enter(unit);
    try {
      await this.prepareToWrite();
      return await run();
    } catch (error) {
      throw reported(this.explained(error), unit.deadline, false);
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

  private explained(error: unknown): unknown {
    return this.isFull && failureOf(error) === 'read-only' ? diskFull(error) : error;
  }

  get load(): PoolLoad {
    return { total: 1, idle: this.queue.idle, waiting: this.queue.waiting };
  }

  async ping(): Promise<void> {
    await this.engine.query('select 1');
  }

  async canWrite(): Promise<boolean> {
    return this.files?.space.isEnough() ?? true;
  }

  async close(): Promise<void> {
    this.upkeep.stop();
    this.onlineCopy?.stop();
    await this.prisma.$disconnect();
    if (!this.engine.closed) await this.engine.close();
    this.files?.unlock();
  }
}

/** Converts `0099-01-02 03:04:05.678+00` to full ISO form; in any other form JavaScript guesses the century. */
function parseTimestamp(text: string): Date {
  return new Date(text.replace(' ', 'T').replace(/\+00$/, 'Z'));
}
