import { Query, type QueryConfig, type ResultBuilder } from 'pg';
import { type PoolLoad, type Requester, SERVICE } from '../database';
import { Deadline, settled } from '../deadline';
import type { BoundStatement, Engine, OpenTransaction, StatementKind, TransactionEnd } from '../engine';
import { connectionsOfOneCaller, FairSemaphore, type Release } from '../fair-semaphore';
import { PrismaClient } from '../generated/client';
import { callAtIterationEnd } from '../iteration-end';
import type { PoolBounds } from '../postgres/bounded-pool';
import { TAKES_WRITES } from '../postgres/postgres-engine';
import { exactDate } from '../postgres/prepared-query';
import { adapterOn, PrismaClientPool } from '../postgres/prisma-client-pool';
import type { DatabaseThread } from './database-thread';
import { type Done, EmbeddedTransaction, type Flight } from './embedded-transaction';
import { clear, drop, MAX_IN_FLIGHT, mark } from './session-protocol';
import { SessionStatements } from './session-statements';
import { Upkeep } from './upkeep';

/** Reads that are not short delay all other statements. So only this many are in flight at a time, and only one per caller. */
const MAX_LONG_READS = 2;
/** The time limit of a checkpoint or vacuum, in milliseconds. */
const UPKEEP_MS = 600_000;

declare module 'pg' {
  interface Connection {
    /** The texts of prepared statements, by name. node-postgres never removes an entry. */
    readonly parsedStatements: Record<string, string>;
  }
}

/**
 * Runs everything in the only session of PGlite, over one connection. Statements outside of transactions are sent at once, and
 * run in the order in which they were sent. From the BEGIN of a transaction until its COMMIT or ROLLBACK is sent, only the
 * transaction uses the session.
 */
export class EmbeddedEngine implements Engine {
  readonly prisma: PrismaClient;
  private readonly inFlight: FairSemaphore;
  private readonly longReads: FairSemaphore;
  private readonly transactions: FairSemaphore;
  private readonly freeSlots = Array.from({ length: MAX_IN_FLIGHT }, (_, slot) => slot);
  private readonly statements = new SessionStatements();
  private readonly prismaClients = new PrismaClientPool();
  private readonly upkeep: Upkeep;

  constructor(
    private readonly thread: DatabaseThread,
    private readonly bounds: Pick<PoolBounds, 'queue' | 'requestTimeoutMs'>,
  ) {
    this.inFlight = new FairSemaphore(MAX_IN_FLIGHT, connectionsOfOneCaller(MAX_IN_FLIGHT), bounds.queue);
    this.longReads = new FairSemaphore(MAX_LONG_READS, 1, bounds.queue);
    this.transactions = new FairSemaphore(1, 1, bounds.queue);
    const send = (config: QueryConfig) => this.send(this.ownRequester(), 'write', config);
    const adapter = adapterOn(send, async () => {
      const requester = this.ownRequester();
      const transaction = await this.begin(requester);
      requester.deadline.onEnd(() => void transaction.rollBack());
      return transaction;
    });
    this.prisma = new PrismaClient({ adapter, errorFormat: 'minimal' });
    this.upkeep = new Upkeep(async (text) => (await this.send(this.ownRequester(UPKEEP_MS), 'write', { text })).rows);
  }

  /** Slots for statements and transactions in flight, since there is only one connection. */
  get load(): PoolLoad {
    const waiting = this.inFlight.waiting + this.longReads.waiting + this.transactions.waiting;
    return { total: MAX_IN_FLIGHT, idle: this.inFlight.idle, waiting };
  }

  async run<Row>(requester: Requester, { statement, values, kind, onWritten }: BoundStatement<Row>): Promise<Row[]> {
    const config = { ...statement, values: values.map(exactDate) };
    return (await this.send(requester, kind, config, onWritten && (({ rows }) => onWritten(rows)))).rows;
  }

  async transact<T>(
    requester: Requester,
    run: (transaction: OpenTransaction) => Promise<T>,
    end: TransactionEnd,
  ): Promise<T> {
    return (await this.begin(requester)).run(run, end);
  }

  async canWrite(): Promise<boolean> {
    const { rows } = await this.send(this.ownRequester(), 'short-read', { text: TAKES_WRITES });
    return rows[0]?.yes === true;
  }

  async close(): Promise<void> {
    await this.upkeep.stop();
    await this.prismaClients.close();
    await this.prisma.$disconnect();
    await this.thread.close();
  }

  private ownRequester(ms = this.bounds.requestTimeoutMs): Requester {
    return { callerId: SERVICE, deadline: new Deadline(ms) };
  }

  /** Runs a statement outside of a transaction. @param succeeded called even if the caller has stopped waiting. */
  private async send(
    requester: Requester,
    kind: StatementKind,
    config: QueryConfig,
    succeeded?: (result: ResultBuilder) => void,
  ): Promise<ResultBuilder> {
    const leaveLongReads = kind === 'read' ? await this.longReads.acquire(requester) : undefined;
    const leave = await this.enter(requester, leaveLongReads);
    const flight = this.depart(() => {
      leave();
      leaveLongReads?.();
    });
    const running = new Promise<ResultBuilder>((resolve, reject) => {
      flight.send(config, kind === 'short-read', (error, result) => {
        flight.land();
        if (error) reject(error);
        else callAtIterationEnd(() => resolve(result));
      });
    });
    if (succeeded) running.then(succeeded, () => undefined);
    return settled(running, requester.deadline, () => kind === 'write', flight.drop);
  }

  private async begin(requester: Requester): Promise<EmbeddedTransaction> {
    const leaveTransactions = await this.transactions.acquire(requester);
    const leave = await this.enter(requester, leaveTransactions);
    this.inFlight.pause();
    // Wait until the statements that have already acquired a slot are sent. If they were sent after BEGIN, they would run
    // inside the transaction, and a rollback would undo them.
    while (this.freeSlots.length - this.inFlight.idle > 1) await undefined;
    return new EmbeddedTransaction(
      this.depart(leave),
      this.thread.stream,
      requester.deadline,
      this.prismaClients,
      () => {
        this.inFlight.resume();
        leaveTransactions();
      },
    );
  }

  private async enter(requester: Requester, giveUp?: Release): Promise<Release> {
    try {
      return await this.inFlight.acquire(requester);
    } catch (error) {
      giveUp?.();
      throw error;
    }
  }

  private depart(leave: Release): Flight {
    if (this.statements.isFull) this.deallocateAll();
    const { client, slots, stream } = this.thread;
    const slot = this.freeSlots.pop() as number;
    let isAnswered = false;
    clear(slots, slot);
    return {
      send: (config, isShort, done) => {
        stream.write(mark(slot, isShort));
        client.query(this.queryFor(config, done));
      },
      drop: () => !isAnswered && drop(slots, slot),
      land: () => {
        isAnswered = true;
        this.freeSlots.push(slot);
        leave();
      },
    };
  }

  private queryFor(config: QueryConfig, done: Done): Query {
    const { name = '', text, values } = config;
    const named = this.statements.take(name, text);
    let isDone = false;
    const onResult = (error: Error | undefined, result: ResultBuilder) => {
      // If a value cannot be encoded, node-postgres calls this function twice.
      if (isDone) return;
      isDone = true;
      if (named) this.statements.note(name, named, error);
      done(error, result);
    };
    // node-postgres copies a configuration, which takes longer than the rest of this call. Only Prisma's configurations have
    // `types`.
    const query = config.types ? new Query(config, onResult) : new Query(text, values, onResult);
    return Object.assign(query, { name: named?.name });
  }

  /** Frees the memory of all prepared statements, in the session and in node-postgres. */
  private deallocateAll(): void {
    this.statements.clear();
    const { parsedStatements } = this.thread.client.connection;
    const earlier = this.statements.last;
    this.thread.client.query('deallocate all', () => {
      for (const name of Object.keys(parsedStatements))
        if (Number(name.slice(1)) <= earlier) delete parsedStatements[name];
    });
  }
}
