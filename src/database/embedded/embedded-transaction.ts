import type { QueryConfig, ResultBuilder } from 'pg';
import type { Statement } from '../database';
import { type Deadline, settled } from '../deadline';
import type { OpenTransaction, TransactionEnd } from '../engine';
import type { Prisma } from '../generated/client';
import { callAtIterationEnd } from '../iteration-end';
import { exactDate } from '../postgres/prepared-query';
import type { PrismaClientPool, ReusablePrismaClient } from '../postgres/prisma-client-pool';
import type { EventRow } from '../recorded-write';
import { BEGIN } from '../session-settings';
import { statement } from '../statement';
import type { PortStream } from './port-stream';

/** Called with the outcome of a statement. */
export type Done = (error: Error | undefined, result: ResultBuilder) => void;

/** A statement or transaction in flight: it was sent, and its response has not arrived. */
export interface Flight {
  /** @param done called as soon as the outcome is known. */
  send(config: QueryConfig, isShort: boolean, done: Done): void;
  /** Drops the statement or transaction, unless it has started. @returns whether it will never run. */
  drop(): boolean;
  /** Called when the response has arrived. */
  land(): void;
}

/** A transaction. While it is open, no other statement uses the session. */
export class EmbeddedTransaction implements OpenTransaction {
  private isCommitting = false;
  private isOver = false;
  /** Prisma's models in this transaction; `undefined` until a model is used. */
  private prismaClient: ReusablePrismaClient | undefined;

  /** @param release called when other callers may send statements. */
  constructor(
    private readonly flight: Flight,
    private readonly stream: PortStream,
    private readonly deadline: Deadline,
    private readonly prismaClients: PrismaClientPool,
    private readonly release: () => void,
  ) {
    this.flight.send({ text: BEGIN }, false, () => undefined);
  }

  get prisma(): Prisma.TransactionClient {
    this.checkOpen();
    this.prismaClient ??= this.prismaClients.take((config) =>
      this.send({ ...config, name: statement(config.text).name }),
    );
    return this.prismaClient.prisma;
  }

  async query<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    return (await this.send({ ...statement, values: values.map(exactDate) })).rows;
  }

  async send(config: QueryConfig): Promise<ResultBuilder> {
    this.checkOpen();
    return this.post(config);
  }

  /** Runs the transaction. At the deadline it is rolled back even if `run` hangs, since all other statements wait for its end. */
  run<T>(run: (transaction: OpenTransaction) => Promise<T>, end: TransactionEnd): Promise<T> {
    const running = this.runToEnd(run, end);
    const cut = () => {
      const isDropped = this.flight.drop();
      void this.rollBack();
      return isDropped || !this.isCommitting;
    };
    return settled(running, this.deadline, () => this.isCommitting, cut);
  }

  /** Sends the last statement and COMMIT. @returns the rows of the last statement. */
  async commit(end?: TransactionEnd): Promise<EventRow[]> {
    this.checkOpen();
    this.isCommitting = true;
    const last = end?.lastStatement();
    const written = last ? this.query<EventRow>(last.statement, last.values) : [];
    const [rows, { command }] = await Promise.all([written, this.end('commit')]);
    if (command !== 'COMMIT') throw new Error('A failed statement has rolled the transaction back.');
    return rows;
  }

  async rollBack(): Promise<void> {
    // If COMMIT fails, PostgreSQL has rolled back. A later ROLLBACK might roll back the transaction of another caller.
    if (!this.isOver) await this.end('rollback').catch(() => undefined);
  }

  private async runToEnd<T>(run: (transaction: OpenTransaction) => Promise<T>, end: TransactionEnd): Promise<T> {
    try {
      const result = await run(this);
      end.onCommit(await this.commit(end));
      return result;
    } catch (error) {
      await this.rollBack();
      throw error;
    } finally {
      // Only after `run` has ended. Otherwise `run` might send its next statement in the transaction of another caller.
      if (this.prismaClient) this.prismaClients.putBack(this.prismaClient);
    }
  }

  /** Sends the last statement. From then on, other callers may send statements, so this transaction must not send any more. */
  private end(text: string): Promise<ResultBuilder> {
    this.isOver = true;
    const ended = this.post({ text }).finally(() => this.flight.land());
    this.release();
    return ended;
  }

  private post(config: QueryConfig): Promise<ResultBuilder> {
    return new Promise((resolve, reject) => {
      this.flight.send(config, false, (error, result) =>
        error ? reject(error) : callAtIterationEnd(() => resolve(result)),
      );
      // All other statements wait for this transaction, so its statements do not wait for the end of the event loop's iteration.
      this.stream.flush();
    });
  }

  private checkOpen(): void {
    this.deadline.check();
    if (this.isOver) throw new Error('The transaction has already ended.');
  }
}
