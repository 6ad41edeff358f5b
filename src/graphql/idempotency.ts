import { createHash } from 'node:crypto';
import type { FormattedExecutionResult } from 'graphql';
import type { Session } from '../database/database';
import {
  type Claim,
  findAnswer,
  keepAnswer,
  lockKey,
  lockSeveral,
  MAX_ANSWER_BYTES,
} from '../database/idempotency';
import { ProblemError } from './errors';
import { Queue } from './queue';

/** What a run of an operation has come to. */
export interface Run {
  readonly body: FormattedExecutionResult;
  /** Whether asking again is to get this very answer. */
  readonly isFinal: boolean;
}

/** What is to be run. */
export interface Work {
  /** Each of which may lock rows, and keeps them locked until the last has run. */
  readonly hasSeveralFields: boolean;
  run(transaction: Session): Promise<Run>;
}

/** An answer, and whether it was given before. */
export interface Answer {
  readonly body: FormattedExecutionResult;
  readonly replayed: boolean;
}

const KEPT_MS = 24 * 60 * 60 * 1000;

/**
 * Runs what is asked under one idempotency key once. The answer is kept in the transaction of the change, so that a crash
 * leaves either both or neither, and nothing that would have to be unlocked.
 */
export class Idempotency {
  /** What runs in this process: the embedded database would make a second one wait instead of telling it. */
  private readonly running = new Set<string>();

  /** For work of several fields: who waits here holds no connection. */
  private readonly several = new Queue();

  /** @param now milliseconds of the Unix epoch. */
  constructor(private readonly now: () => number) {}

  /**
   * The answer that is kept under the claim's key, or that of `work`, which runs in a transaction. What `work` throws
   * undoes what it did, and is not kept. Of work of several fields one runs at a time, on all instances: two might lock
   * the same rows in opposite orders.
   * @throws ProblemError `IDEMPOTENCY_IN_PROGRESS`, `IDEMPOTENCY_MISMATCH`, `OPERATION_TOO_COMPLEX`, `SERVICE_UNAVAILABLE`,
   * and what `work` throws.
   */
  async run(session: Session, claim: Claim, work: Work): Promise<Answer> {
    const id = `${claim.caller}\n${claim.key}`;
    if (this.running.has(id)) throw inProgress();
    const known = await this.find(session, claim);
    if (known) return known;
    if (this.running.has(id)) throw inProgress();
    this.running.add(id);
    try {
      const first = () => session.transaction((transaction) => this.runFirst(transaction, claim, work));
      return await (work.hasSeveralFields ? this.several.run(first) : first());
    } finally {
      this.running.delete(id);
    }
  }

  private async runFirst(transaction: Session, claim: Claim, work: Work): Promise<Answer> {
    const isMine = await lockKey(transaction, claim);
    // Whoever had the lock may have finished since we looked.
    const known = await this.find(transaction, claim);
    if (known) return known;
    if (!isMine) throw inProgress();
    if (work.hasSeveralFields) await lockSeveral(transaction);
    const { body, isFinal } = await work.run(transaction);
    if (isFinal) {
      const text = JSON.stringify(body);
      if (Buffer.byteLength(text) > MAX_ANSWER_BYTES) throw tooLarge();
      await keepAnswer(transaction, claim, text, new Date(this.now() + KEPT_MS));
    }
    return { body, replayed: false };
  }

  private async find(session: Session, claim: Claim): Promise<Answer | undefined> {
    const kept = await findAnswer(session, claim, new Date(this.now()));
    if (kept && !kept.isSame) {
      throw new ProblemError(
        'IDEMPOTENCY_MISMATCH',
        'This Idempotency-Key was used for another request within the last 24 hours.',
      );
    }
    return kept && { body: JSON.parse(kept.answer) as FormattedExecutionResult, replayed: true };
  }
}

/**
 * What tells one request from another.
 * @param operation what is run: the text of a document, the name of a prepared one.
 * @param variables coerced, so that one value has one spelling.
 */
export function fingerprintOf(
  operation: readonly (string | undefined)[],
  variables: Readonly<Record<string, unknown>>,
): string {
  const text = JSON.stringify([operation, variables], (_name, value: unknown) =>
    typeof value === 'bigint' ? String(value) : sorted(value),
  );
  return createHash('sha256').update(text).digest('hex');
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function inProgress(): ProblemError {
  return new ProblemError(
    'IDEMPOTENCY_IN_PROGRESS',
    'A request with this Idempotency-Key is still running. Try again shortly.',
  );
}

function tooLarge(): ProblemError {
  return new ProblemError(
    'OPERATION_TOO_COMPLEX',
    'The answer is larger than the 1 MiB that is kept under an Idempotency-Key, so nothing was changed. Ask for fewer fields.',
  );
}
