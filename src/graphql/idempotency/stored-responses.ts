import { createHash } from 'node:crypto';
import type { FormattedExecutionResult } from 'graphql';
import type { Session, Transaction } from '../../database/database';
import { FairQueue, type Leave } from '../../database/work/fair-queue';
import {
  type Claim,
  findAnswer,
  keepAnswer,
  lockKey,
  lockSeveral,
  MAX_ANSWER_BYTES,
} from '../../database/writing/stored-answers';
import { ProblemError } from '../../errors/problem';

/** The result of running an operation. */
export interface Run {
  readonly body: FormattedExecutionResult;
  /** Whether to store this response and return it to retries. */
  readonly isFinal: boolean;
}

/** What to run. */
export interface Work {
  /** Each field may lock rows, which stay locked until the last field has run. */
  readonly hasSeveralFields: boolean;
  run(transaction: Transaction): Promise<Run>;
}

/** A response, and whether it was stored earlier. */
export interface Answer {
  readonly body: FormattedExecutionResult;
  readonly replayed: boolean;
}

/** Maximum number of requests with several fields that wait for their turn. */
const MAX_WAITING = 1_000;

const KEPT_MS = 24 * 60 * 60 * 1000;

/**
 * Runs each request once per idempotency key. The response is stored in the same transaction as the change, so
 * a crash leaves either both or neither, and no lock to release.
 */
export class StoredResponses {
  /** Keys in use in this process: the embedded database would make a second request wait instead of refusing it. */
  private readonly running = new Set<string>();

  /** For work with several fields: while waiting here it holds no connection. */
  private readonly several = new FairQueue(1, MAX_WAITING);

  /** @param now milliseconds of the Unix epoch. */
  constructor(private readonly now: () => number) {}

  /**
   * Returns the response stored under the claim's key, or runs `work` in a transaction. If `work` throws, its
   * changes are rolled back and nothing is stored. Work with several fields runs one at a time across all
   * instances, since two might lock the same rows in opposite orders.
   * @throws ProblemError `IDEMPOTENCY_IN_PROGRESS`, `IDEMPOTENCY_MISMATCH`, `OPERATION_TOO_COMPLEX`,
   * `SERVICE_UNAVAILABLE`, and whatever `work` throws.
   */
  async run(session: Session, claim: Claim, work: Work): Promise<Answer> {
    const id = `${claim.caller}\n${claim.key}`;
    if (this.running.has(id)) throw inProgress();
    this.running.add(id);
    let leave: Leave | undefined;
    try {
      if (work.hasSeveralFields) leave = await this.several.enter(session.work);
      return await session.transaction((transaction) => this.runFirst(transaction, claim, work));
    } finally {
      leave?.();
      this.running.delete(id);
    }
  }

  private async runFirst(transaction: Transaction, claim: Claim, work: Work): Promise<Answer> {
    const isMine = await lockKey(transaction, claim);
    // The previous holder of the lock may have finished meanwhile.
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

  private async find(transaction: Transaction, claim: Claim): Promise<Answer | undefined> {
    const kept = await findAnswer(transaction, claim, new Date(this.now()));
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
 * A hash that identifies a request.
 * @param operation what is run: the text of a document or the name of a prepared one, and the operation name.
 * @param variables coerced, so that equal values have one representation.
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
    'The response exceeds the 1 MiB that can be stored for an Idempotency-Key, so nothing was changed. Request fewer fields.',
  );
}
