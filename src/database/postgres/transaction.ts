import type { PoolClient, QueryConfig, QueryResult } from 'pg';
import type { Statement } from '../database';
import type { Deadline } from '../deadline';
import type { OpenTransaction, TransactionEnd } from '../engine';
import { failureOf, leavesUnclear } from '../failures';
import type { Prisma } from '../generated/client';
import type { EventRow } from '../recorded-write';
import { BEGIN } from '../session-settings';
import { statement } from '../statement';
import { connectionOf } from './connection-settings';
import { exactDate, notePrepared, runPrepared } from './prepared-query';
import type { PrismaClientPool, ReusablePrismaClient } from './prisma-client-pool';

/** A transaction on a checked-out connection. */
export class PostgresTransaction implements OpenTransaction {
  /** Whether the commit has been sent. */
  isCommitting = false;
  private isOver = false;
  private isSpent = false;
  /** Prisma's models on this connection; `undefined` until a model is used. */
  private prismaClient: ReusablePrismaClient | undefined;

  /** @param unnamedIfPooled returns the statement to send: behind a pooler, a statement without a name. */
  constructor(
    private readonly client: PoolClient,
    private readonly deadline: Deadline,
    private readonly prismaClients: PrismaClientPool,
    private readonly unnamedIfPooled: (statement: Statement) => Statement,
  ) {}

  get prisma(): Prisma.TransactionClient {
    this.checkOpen();
    this.prismaClient ??= this.prismaClients.take((config) => this.send(config));
    return this.prismaClient.prisma;
  }

  async query<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    this.checkOpen();
    return runPrepared<Row>(this.client, this.unnamedIfPooled(statement), values.map(exactDate), (isSpent) => {
      this.isSpent ||= isSpent;
    });
  }

  /** Runs the transaction, commits it or rolls it back, and releases the connection. */
  async run<T>(run: (transaction: OpenTransaction) => Promise<T>, end: TransactionEnd): Promise<T> {
    try {
      const result = await this.begin(run);
      end.onCommit(await this.commit(end));
      return result;
    } catch (error) {
      await this.rollBack();
      throw error;
    } finally {
      this.isOver = true;
      if (this.prismaClient) this.prismaClients.putBack(this.prismaClient);
      this.client.release(this.isSpent);
    }
  }

  /** Sends BEGIN and the first statement in one socket write. This is possible because the connection is pipelined. */
  private begin<T>(run: (transaction: OpenTransaction) => Promise<T>): Promise<T> {
    return this.inOneWrite(() => {
      // An error of BEGIN can be ignored: it occurs only if the connection is lost, and the next statement then fails, too.
      this.client.query(BEGIN).catch(() => undefined);
      return run(this);
    });
  }

  /** Sends the last statement and COMMIT in one socket write. @returns the rows of the last statement. */
  private async commit(end: TransactionEnd): Promise<EventRow[]> {
    this.deadline.check();
    const last = end.lastStatement();
    const [rows, { command }] = await this.inOneWrite(() => {
      const written = last ? this.query<EventRow>(last.statement, last.values) : [];
      this.isCommitting = true;
      return Promise.all([written, this.client.query('commit')]);
    });
    if (command !== 'COMMIT') throw new Error('A failed statement has rolled the transaction back.');
    return rows;
  }

  private inOneWrite<T>(send: () => T): T {
    const { stream } = connectionOf(this.client);
    stream.cork();
    try {
      return send();
    } finally {
      stream.uncork();
    }
  }

  private async rollBack(): Promise<void> {
    try {
      // At the deadline the connection is closed, and the server rolls the transaction back.
      this.deadline.check();
      await this.client.query('rollback');
    } catch {
      this.isSpent = true;
    }
  }

  /** Sends a statement of Prisma's models. */
  private send(config: QueryConfig): Promise<QueryResult> {
    this.checkOpen();
    const { name, text } = this.unnamedIfPooled(statement(config.text));
    const noted = notePrepared(this.client, name, text);
    this.isSpent ||= noted.isFull;
    return this.client.query({ ...config, name: noted.name }).catch((error) => {
      this.isSpent ||= leavesUnclear(failureOf(error));
      throw error;
    });
  }

  private checkOpen(): void {
    if (this.isOver) throw new Error('The transaction has already ended.');
    this.deadline.check();
  }
}
