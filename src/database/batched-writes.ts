import { AsyncResource } from 'node:async_hooks';
import { type BatchStatement, type Requester, SERVICE } from './database';
import { Deadline, Ended, OutcomeUnknown } from './deadline';
import type { Engine } from './engine';
import { failureOf } from './failures';
import { checkPlaces } from './fair-semaphore';
import { GRACE_MS, unconfirmed } from './settled';

/** Maximum number of rows that one statement writes. */
const MAX_ROWS = 64;
/** Maximum number of statements in flight. Rows that arrive meanwhile wait, and are written together. */
const MAX_IN_FLIGHT = 2;
/** How long the write of a single row counts as in flight, in milliseconds. It may wait for a lock that other rows do not need. */
const SINGLE_MS = 20;

/** Failures of a batch that a single write would have too, or after which it is unclear what is written. */
const COMMON_FAILURES: ReadonlySet<unknown> = new Set(['unavailable', 'timeout', 'rejected', 'read-only', 'disk-full']);

/** A batch belongs to no request, so its traces must not join those of the request that happens to start it. */
const NO_REQUEST = new AsyncResource('BatchedWrites');

/** A row that a {@link BatchStatement} has written, with the fields that `single` returns. */
interface WrittenRow {
  /** The position of the row in the arrays, from 1. */
  readonly ordinal: bigint;
}

/** A row to write, with the asynchronous context of its request. */
class Row extends AsyncResource {
  /** Set while a batch with this row is in flight. */
  batch?: Batch;
  settle!: (rows: Promise<readonly unknown[]>) => void;
  readonly written = new Promise<readonly unknown[]>((resolve) => {
    this.settle = resolve;
  });

  constructor(
    readonly requester: Requester,
    readonly values: readonly unknown[],
  ) {
    super('Row');
  }
}

/** Its deadline ends when nobody waits for its rows any more. */
class Batch {
  readonly deadline: Deadline;

  constructor(
    limitMs: number,
    private wanted: number,
  ) {
    this.deadline = new Deadline(limitMs);
  }

  leave(reason: Ended | undefined): void {
    this.wanted -= 1;
    if (this.wanted === 0) this.deadline.end(reason);
  }
}

/**
 * Writes rows with one statement if they arrive in the same turn of the event loop, or while earlier ones are being written.
 * A row then costs a fraction of a single statement (bench/README.md). Callers are served round-robin.
 *
 * A row that arrives alone is written alone. So is a row that the batch leaves out, since a row that it refers to is missing or
 * locked. The other rows therefore neither fail nor wait.
 */
export class BatchedWrites {
  /** The number of rows that wait. */
  waiting = 0;
  /** The waiting rows by caller, in round-robin order. */
  private readonly queues = new Map<string, Row[]>();
  private inFlight = 0;
  private isScheduled = false;

  /** @param places maximum number of rows that wait. @param limitMs time limit of a batch. */
  constructor(
    private readonly engine: Pick<Engine, 'run'>,
    private readonly statement: BatchStatement,
    private readonly places: number,
    private readonly limitMs: number,
  ) {}

  /**
   * Writes a row.
   * @param onWritten called after the write, even if the caller has stopped waiting.
   * @returns the row as the statement returns it.
   * @throws as {@link Session.write}; Error `53300` if too many rows wait.
   */
  write<Result>(
    requester: Requester,
    values: readonly unknown[],
    onWritten?: (rows: readonly Result[]) => void,
  ): Promise<Result[]> {
    const { deadline, callerId } = requester;
    return new Promise((resolve, reject) => {
      deadline.check();
      checkPlaces(this.waiting, this.queues.get(callerId)?.length ?? 0, this.places);
      const row = new Row(requester, values);
      const written = row.written as Promise<Result[]>;
      if (onWritten) written.then(onWritten, () => undefined);
      const stop = deadline.onEnd(() => {
        if (this.remove(row)) reject(deadline.reason);
        if (!row.batch) return;
        row.batch.leave(deadline.reason);
        setTimeout(() => reject(unconfirmed()), GRACE_MS).unref();
      });
      written.finally(stop).then(resolve, reject);
      this.add(row);
    });
  }

  private add(row: Row): void {
    const { callerId } = row.requester;
    const queue = this.queues.get(callerId);
    if (queue) queue.push(row);
    else this.queues.set(callerId, [row]);
    this.waiting += 1;
    this.schedule();
  }

  /** @returns whether the row was waiting. */
  private remove(row: Row): boolean {
    const { callerId } = row.requester;
    const queue = this.queues.get(callerId) ?? [];
    const index = queue.indexOf(row);
    if (index < 0) return false;
    queue.splice(index, 1);
    if (!queue.length) this.queues.delete(callerId);
    this.waiting -= 1;
    return true;
  }

  /** Sends the rows that wait at the end of this turn of the event loop, when other requests have added theirs. */
  private schedule(): void {
    if (this.isScheduled || this.inFlight === MAX_IN_FLIGHT || !this.waiting) return;
    this.isScheduled = true;
    queueMicrotask(() => {
      this.isScheduled = false;
      this.send(this.take());
      this.schedule();
    });
  }

  private take(): Row[] {
    const rows: Row[] = [];
    // The iteration goes on with the callers that it puts at the end.
    for (const [callerId, queue] of this.queues) {
      if (rows.length === MAX_ROWS) break;
      rows.push(queue.shift() as Row);
      this.queues.delete(callerId);
      if (queue.length) this.queues.set(callerId, queue);
    }
    this.waiting -= rows.length;
    return rows;
  }

  private send(rows: readonly Row[]): void {
    const [row] = rows;
    if (!row) return;
    this.inFlight += 1;
    let hasLanded = false;
    const land = () => {
      if (hasLanded) return;
      hasLanded = true;
      this.inFlight -= 1;
      this.schedule();
    };
    if (rows.length > 1) return void NO_REQUEST.runInAsyncScope(() => this.writeTogether(rows)).then(land);
    const timer = setTimeout(land, SINGLE_MS);
    const landSingle = () => {
      clearTimeout(timer);
      land();
    };
    this.writeAlone(row).then(landSingle, landSingle);
  }

  private writeAlone(row: Row): Promise<unknown> {
    const { requester, values } = row;
    row.batch = undefined;
    const bound = { statement: this.statement.single, values, kind: 'write' as const };
    const written = row.runInAsyncScope(() => this.engine.run(requester, bound));
    row.settle(written);
    return written;
  }

  private async writeTogether(rows: readonly Row[]): Promise<void> {
    const batch = new Batch(this.limitMs, rows.length);
    for (const row of rows) row.batch = batch;
    const values = rows[0]?.values.map((_, i) => rows.map((row) => row.values[i])) ?? [];
    let results: Map<bigint, WrittenRow>;
    try {
      const bound = { statement: this.statement, values, kind: 'write' as const };
      const written = await this.engine.run<WrittenRow>({ callerId: SERVICE, deadline: batch.deadline }, bound);
      results = new Map(written.map((result) => [result.ordinal, result]));
    } catch (error) {
      const isCommon =
        error instanceof Ended || error instanceof OutcomeUnknown || COMMON_FAILURES.has(failureOf(error));
      for (const row of rows) {
        if (isCommon) row.settle(Promise.reject(error));
        else void this.writeAlone(row).catch(() => undefined);
      }
      return;
    }
    for (const [i, row] of rows.entries()) {
      const result = results.get(BigInt(i + 1));
      if (result) row.settle(Promise.resolve([result]));
      else void this.writeAlone(row).catch(() => undefined);
    }
  }
}
