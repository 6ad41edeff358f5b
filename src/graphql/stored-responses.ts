import { createHash } from 'node:crypto';
import type { FormattedExecutionResult } from 'graphql';
import type { Session, Transaction } from '../database/database';
import { tryLock } from '../database/writing';
import { ProblemError } from '../errors/errors';

/** A request made under an idempotency key. */
interface Claim {
  /** An API key's id or an address. */
  readonly caller: string;
  readonly key: string;
  /** A hash of the request. */
  readonly fingerprint: Uint8Array<ArrayBuffer>;
}

/** The result of running an operation. */
export interface Run {
  readonly body: FormattedExecutionResult;
  /** Whether to store this response and return it to retries. */
  readonly isFinal: boolean;
}

type Work = (transaction: Transaction) => Promise<Run>;

/** A response, and whether it was stored earlier. */
interface Answer {
  readonly body: FormattedExecutionResult;
  readonly replayed: boolean;
}

/** Maximum bytes of a stored response, as in the table. */
const MAX_BYTES = 1024 * 1024;
const KEPT_MS = 24 * 60 * 60 * 1000;

/**
 * Runs each request once per idempotency key. The response is stored in the same transaction as the change, so
 * a crash leaves either both or neither, and no lock to release.
 */
export class StoredResponses {
  /** Keys in use in this process: the embedded database would make a second request wait instead of refusing it. */
  private readonly running = new Set<string>();

  /** @param now milliseconds of the Unix epoch. */
  constructor(private readonly now: () => number) {}

  /**
   * Returns the response stored under the claim's key, or runs `work` in a transaction. If `work` throws, its
   * changes are rolled back and nothing is stored.
   * @throws ProblemError `IDEMPOTENCY_IN_PROGRESS`, `IDEMPOTENCY_MISMATCH`, `OPERATION_TOO_COMPLEX`,
   * `SERVICE_UNAVAILABLE`, and whatever `work` throws.
   */
  async run(session: Session, claim: Claim, work: Work): Promise<Answer> {
    const id = `${claim.caller}\n${claim.key}`;
    if (this.running.has(id)) throw inProgress();
    this.running.add(id);
    try {
      return await session.transaction((transaction) => this.runFirst(transaction, claim, work));
    } finally {
      this.running.delete(id);
    }
  }

  private async runFirst(transaction: Transaction, claim: Claim, work: Work): Promise<Answer> {
    const { caller, key, fingerprint } = claim;
    // Held until the transaction ends in any way.
    const isMine = await tryLock(transaction, { text: `${caller}\n${key}` });
    // The previous holder of the lock may have finished meanwhile.
    const known = await this.find(transaction, claim);
    if (known) return known;
    if (!isMine) throw inProgress();
    const { body, isFinal } = await work(transaction);
    if (isFinal) {
      const answer = JSON.stringify(body);
      if (Buffer.byteLength(answer) > MAX_BYTES) throw tooLarge();
      const update = { fingerprint, answer, expiresAt: new Date(this.now() + KEPT_MS) };
      await transaction.prisma.idempotencyKey.upsert({
        where: { caller_key: { caller, key } },
        create: { caller, key, ...update },
        update,
        select: { key: true },
      });
    }
    return { body, replayed: false };
  }

  private async find(transaction: Transaction, { caller, key, fingerprint }: Claim): Promise<Answer | undefined> {
    const where = { caller_key: { caller, key }, expiresAt: { gt: new Date(this.now()) } };
    const stored = await transaction.prisma.idempotencyKey.findUnique({ where });
    if (!stored) return undefined;
    if (Buffer.compare(fingerprint, stored.fingerprint) === 0)
      return { body: JSON.parse(stored.answer), replayed: true };
    throw new ProblemError(
      'IDEMPOTENCY_MISMATCH',
      'This Idempotency-Key was used for another request within the last 24 hours.',
    );
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
): Uint8Array<ArrayBuffer> {
  const text = JSON.stringify([operation, variables], (_name, value: unknown) =>
    typeof value === 'bigint' ? String(value) : sorted(value),
  );
  return new Uint8Array(createHash('sha256').update(text).digest());
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
