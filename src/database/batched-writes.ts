import { AsyncResource } from 'node:async_hooks';
import { type Requester, SERVICE, type Statement } from './database';
import { Deadline, Ended, GRACE_MS, OutcomeUnknown, unconfirmed } from './deadline';
import type { Engine } from './engine';
import { failureOf } from './failures';
import { checkPlaces } from './fair-semaphore';

/** Maximum number of rows that one statement writes. */
const MAX_ROWS = 64;
/**
 * Maximum number of rows of one caller in flight. With more rows, the responses for a caller with hundreds of requests in
 * progress would arrive together. They could keep the event loop busy, and so delay all other requests.
 */
const MAX_ROWS_OF_ONE_CALLER = 16;
/** Maximum number of statements in flight. Rows that arrive meanwhile wait, and are written together. */
const MAX_IN_FLIGHT = 2;
/** How long the write of a single row counts as in flight, in milliseconds. It may wait for a lock that other rows do not need. */
const SINGLE_MS = 20;

/** Failures of a batch that would also affect a single write, or that leave it unclear what was written. */
const COMMON_FAILURES: ReadonlySet<unknown> = new Set(['unavailable', 'timeout', 'rejected', 'read-only', 'disk-full']);

/** A batch belongs to no request, so its spans must not belong to the trace of the request that happens to start it. */
const NO_REQUEST = new AsyncResource('BatchedWrites');

/** A row that the batch has written, in the form of {@link WriteStatement.batch}. */
interface BatchResult {
  readonly ordinal: bigint;
}

/** A row to write, with the asynchronous context of its request. */
class PendingWrite extends AsyncResource {
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
    super('PendingWrite');
  }
}

/** Rows that one statement writes. The deadline ends when no request waits for these rows any more. */
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
 * Writes rows with one statement if they arrive together, or while earlier rows are being written. A row then costs a fraction of
 * a single statement (bench/README.md). Callers are served round-robin.
 *
 * A row that arrives alone is written alone. The batch leaves a row out if the row that it refers to is missing or locked. This
 * row is then written alone, so the other rows neither fail nor wait.
 */
export class BatchedWrites {
  /** The number of rows that wait. */
  waiting = 0;
  /** The waiting rows by caller, in round-robin order. */
  private readonly queues = new Map<string, PendingWrite[]>();
  /** The number of statements in flight. */
  private inFlight = 0;
  /** The number of rows in these statements by caller. */
  private readonly rowsInFlight = new Map<string, number>();
  private isScheduled = false;

  /**
   * @param single writes one row. @param batch writes many rows, as {@link WriteStatement.batch} does.
   * @param places maximum number of rows that wait. @param limitMs time limit of a batch.
   */
  constructor(
    private readonly engine: Pick<Engine, 'run'>,
    private readonly single: Statement,
    private readonly batch: Statement,
    private readonly places: number,
    private readonly limitMs: number,
  ) {}

  /**
   * Writes a row.
   * @param onWritten called after the write, even if the caller has stopped waiting.
   * @returns the row as the statement returns it.
   * @throws the errors of {@link Session.write}; Error `53300` if too many rows wait.
   */
  write<Row>(
    requester: Requester,
    values: readonly unknown[],
    onWritten?: (rows: readonly Row[]) => void,
  ): Promise<Row[]> {
    const { deadline, callerId } = requester;
    return new Promise((resolve, reject) => {
      deadline.check();
      checkPlaces(this.waiting, this.queues.get(callerId)?.length ?? 0, this.places);
      const pending = new PendingWrite(requester, values);
      const written = pending.written as Promise<Row[]>;
      if (onWritten) written.then(onWritten, () => undefined);
      const stop = deadline.onEnd(() => {
        if (this.remove(pending)) reject(deadline.reason);
        if (!pending.batch) return;
        pending.batch.leave(deadline.reason);
        setTimeout(() => reject(unconfirmed()), GRACE_MS).unref();
      });
      written.finally(stop).then(resolve, reject);
      this.add(pending);
    });
  }

  private add(pending: PendingWrite): void {
    const { callerId } = pending.requester;
    const queue = this.queues.get(callerId);
    if (queue) queue.push(pending);
    else this.queues.set(callerId, [pending]);
    this.waiting += 1;
    this.schedule();
  }

  /** @returns whether the write was waiting. */
  private remove(pending: PendingWrite): boolean {
    const { callerId } = pending.requester;
    const queue = this.queues.get(callerId) ?? [];
    const index = queue.indexOf(pending);
    if (index < 0) return false;
    queue.splice(index, 1);
    if (!queue.length) this.queues.delete(callerId);
    this.waiting -= 1;
    return true;
  }

  /**
   * Sends the waiting rows in a microtask. The stage `batch` handles requests together, so by then other requests have added
   * their rows.
   */
  private schedule(): void {
    if (this.isScheduled || this.inFlight === MAX_IN_FLIGHT || !this.waiting) return;
    this.isScheduled = true;
    queueMicrotask(() => {
      this.isScheduled = false;
      const writes = this.take();
      if (!writes.length) return;
      this.send(writes);
      this.schedule();
    });
  }

  /** Takes the rows for the next statement; none if all waiting rows belong to callers with the maximum number in flight. */
  private take(): PendingWrite[] {
    const taken: PendingWrite[] = [];
    // The loop also reaches the callers that it moves to the end.
    for (const [callerId, queue] of this.queues) {
      if (taken.length === MAX_ROWS) break;
      const rows = this.rowsInFlight.get(callerId) ?? 0;
      if (rows === MAX_ROWS_OF_ONE_CALLER) continue;
      this.rowsInFlight.set(callerId, rows + 1);
      taken.push(queue.shift() as PendingWrite);
      this.queues.delete(callerId);
      if (queue.length) this.queues.set(callerId, queue);
    }
    this.waiting -= taken.length;
    return taken;
  }

  private send(writes: readonly PendingWrite[]): void {
    this.inFlight += 1;
    let hasLanded = false;
    const land = () => {
      if (hasLanded) return;
      hasLanded = true;
      this.inFlight -= 1;
      for (const { requester } of writes) this.rowLanded(requester.callerId);
      this.schedule();
    };
    const [first] = writes as [PendingWrite];
    if (writes.length > 1) return void NO_REQUEST.runInAsyncScope(() => this.writeTogether(writes)).then(land);
    const timer = setTimeout(land, SINGLE_MS);
    const landSingle = () => {
      clearTimeout(timer);
      land();
    };
    this.writeAlone(first).then(landSingle, landSingle);
  }

  private rowLanded(callerId: string): void {
    const left = (this.rowsInFlight.get(callerId) ?? 1) - 1;
    if (left) this.rowsInFlight.set(callerId, left);
    else this.rowsInFlight.delete(callerId);
  }

  private writeAlone(pending: PendingWrite): Promise<unknown> {
    const { requester, values } = pending;
    pending.batch = undefined;
    const bound = { statement: this.single, values, kind: 'write' as const };
    const written = pending.runInAsyncScope(() => this.engine.run(requester, bound));
    pending.settle(written);
    return written;
  }

  private async writeTogether(writes: readonly PendingWrite[]): Promise<void> {
    const batch = new Batch(this.limitMs, writes.length);
    for (const pending of writes) pending.batch = batch;
    const values = writes[0]?.values.map((_, i) => writes.map((pending) => pending.values[i])) ?? [];
    let results: Map<bigint, BatchResult>;
    try {
      const bound = { statement: this.batch, values, kind: 'write' as const };
      const written = await this.engine.run<BatchResult>({ callerId: SERVICE, deadline: batch.deadline }, bound);
      results = new Map(written.map((result) => [result.ordinal, result]));
    } catch (error) {
      const isCommon =
        error instanceof Ended || error instanceof OutcomeUnknown || COMMON_FAILURES.has(failureOf(error));
      for (const pending of writes) {
        if (isCommon) pending.settle(Promise.reject(error));
        else void this.writeAlone(pending).catch(() => undefined);
      }
      return;
    }
    for (const [i, pending] of writes.entries()) {
      const result = results.get(BigInt(i + 1));
      if (result) pending.settle(Promise.resolve([result]));
      else void this.writeAlone(pending).catch(() => undefined);
    }
  }
}
