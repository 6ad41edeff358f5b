import { createHash } from 'node:crypto';
import { type ExecutionResult, type FormattedExecutionResult, print } from 'graphql';
import { tryLock } from '../database/advisory-locks';
import type { DeleteBatch } from '../database/cleaning';
import type { Transaction } from '../database/database';
import type { ErrorCode } from '../errors/codes';
import { badInput, ProblemError, type ProblemSummary, problemOf } from '../errors/errors';
import type { AdmittedOperation } from './admission';
import { type Outcome, outcomeOf, rejectOperation } from './outcome';

/** The request header with the idempotency key. */
export const IDEMPOTENCY_KEY = 'idempotency-key';

/** The extensions of a mutation whose responses must not be stored, and which accepts no idempotency key. */
export const NEVER_STORED = { isNeverStored: true };

/** The response header that marks a replay. */
export const IDEMPOTENT_REPLAYED = 'Idempotent-Replayed';

/**
 * The syntax of an `Idempotency-Key` header: a structured-field string
 * (draft-ietf-httpapi-idempotency-key-header, section 2.1; RFC 9651, section 3.3.3) without spaces, or the same text
 * without quotes, as most clients send it.
 */
export const IDEMPOTENCY_KEY_FORM = /^(?:([!#-~][!-~]{0,254})|"((?:[!#-[\]-~]|\\["\\]){1,255})")$/;

const RULE = 'must be 1 to 255 visible ASCII characters, with or without quotes around them';

/** The header of a replay. */
export const REPLAYED: Readonly<Record<string, string>> = { [IDEMPOTENT_REPLAYED.toLowerCase()]: 'true' };

/** All headers that the outcome of a GraphQL operation adds to its response. */
export function headersOf({
  stability,
  replayed,
}: Pick<Outcome, 'stability' | 'replayed'>): Readonly<Record<string, string>> {
  return { ...(stability && { 'x-stability': stability }), ...(replayed && REPLAYED) };
}

/** The identity of a request with an idempotency key. */
interface Claim {
  /** The id of an API key, or a client address. */
  readonly caller: string;
  readonly key: string;
  /** A hash of the request. */
  readonly fingerprint: Uint8Array<ArrayBuffer>;
}

type Body = FormattedExecutionResult;
/** Runs a mutation in a transaction. */
type Execute = (transaction: Transaction) => Promise<ExecutionResult>;

/** A response, and whether it was stored earlier. */
interface Answer {
  readonly body: Body;
  readonly replayed: boolean;
}

/** Maximum size of a stored response in bytes; the database table has the same limit. */
const MAX_BYTES = 1024 * 1024;
const KEPT_MS = 24 * 60 * 60 * 1000;

/**
 * Responses with these codes are not stored. The caller may correct the request, sign in with more scopes, or wait, and retry
 * with the same key. A user keeps the same id with a new token, so a stored `FORBIDDEN` would be replayed even after the user
 * has got the scope.
 */
const NOT_STORED: readonly string[] = [
  'BAD_USER_INPUT',
  'FORBIDDEN',
  'PRECONDITION_FAILED',
  'SERVICE_UNAVAILABLE',
] satisfies ErrorCode[];

/**
 * Runs each mutation once per idempotency key. The response is stored in the same transaction as the change. So after a
 * crash, either both exist or neither exists. A crash also releases the lock of the key.
 */
export class IdempotentMutations {
  /**
   * The keys of mutations that this process is running. Other requests with these keys get 409 before they open a
   * transaction. With the embedded database, which runs one transaction at a time, they would otherwise wait for the first
   * request.
   */
  private readonly running = new Set<string>();

  /** @param now milliseconds since the Unix epoch. */
  constructor(private readonly now: () => number) {}

  /** Returns the response stored under the request's key, or runs the mutation. */
  async run(mutation: AdmittedOperation, execute: Execute): Promise<Outcome> {
    const { operationRequest, analysis, stability } = mutation;
    try {
      const claim = claimOf(mutation);
      // Charges the request here, since `@rateLimit` charges only if a field runs. No field runs for a replay, or for a
      // key that another request uses.
      await operationRequest.meter.chargeOrThrow(analysis.countedFields);
      const answered = await this.runOnce(claim, mutation, execute);
      if (answered.replayed)
        for (const { extensions } of answered.body.errors ?? [])
          operationRequest.observer.onProblem(extensions as unknown as ProblemSummary);
      return { status: 200, stability, ...answered };
    } catch (error) {
      return { ...rejectOperation(error, mutation), replayed: false };
    }
  }

  /** @throws ProblemError `IDEMPOTENCY_IN_PROGRESS`, and the errors of {@link find}, {@link store} and `execute`. */
  private async runOnce(claim: Claim, mutation: AdmittedOperation, execute: Execute): Promise<Answer> {
    const id = `${claim.caller}\n${claim.key}`;
    if (this.running.has(id)) throw new ProblemError('IDEMPOTENCY_IN_PROGRESS');
    this.running.add(id);
    const respond = (run: (transaction: Transaction) => Promise<Body>) =>
      mutation.operationRequest.session.transaction(async (transaction): Promise<Answer> => {
        // The transaction holds the lock until it ends.
        const isMine = await tryLock(transaction, { text: id });
        // Looks up the response even without the lock: the holder of the lock may have committed a response in the meantime.
        const body = await this.find(transaction, claim);
        if (body) return { body, replayed: true };
        if (!isMine) throw new ProblemError('IDEMPOTENCY_IN_PROGRESS');
        const made = await run(transaction);
        await this.store(transaction, claim, made);
        return { body: made, replayed: false };
      });
    try {
      return await respond(async (transaction) => bodyOf(await execute(transaction), mutation));
    } catch (error) {
      if (!(error instanceof Rejected)) throw error;
      const { body, code } = error;
      // The mutation was rolled back. A crash before the second transaction, which stores the response, loses no change.
      return NOT_STORED.includes(code) ? { body, replayed: false } : await respond(async () => body);
    } finally {
      this.running.delete(id);
    }
  }

  /** The stored response. @throws ProblemError `IDEMPOTENCY_MISMATCH`. */
  private async find(transaction: Transaction, { caller, key, fingerprint }: Claim): Promise<Body | undefined> {
    const where = { caller_key: { caller, key }, expiresAt: { gt: new Date(this.now()) } };
    const stored = await transaction.prisma.idempotencyKey.findUnique({ where });
    if (!stored) return undefined;
    if (Buffer.compare(fingerprint, stored.fingerprint) === 0) return JSON.parse(stored.answer);
    throw new ProblemError('IDEMPOTENCY_MISMATCH');
  }

  /** @throws ProblemError `OPERATION_TOO_COMPLEX`. */
  private async store(transaction: Transaction, { caller, key, fingerprint }: Claim, body: Body): Promise<void> {
    const text = JSON.stringify(body);
    if (Buffer.byteLength(text) > MAX_BYTES) throw tooLarge();
    const update = { fingerprint, answer: text, expiresAt: new Date(this.now() + KEPT_MS) };
    await transaction.prisma.idempotencyKey.upsert({
      where: { caller_key: { caller, key } },
      create: { caller, key, ...update },
      update,
      select: { key: true },
    });
  }
}

/** @throws ProblemError `BAD_USER_INPUT` if the header is malformed, or the operation accepts no key. */
function claimOf({ operationRequest, operation, analysis, variables }: AdmittedOperation): Claim {
  const { header = '', operationId: prepared } = operationRequest.idempotency ?? {};
  const [, token, quoted] = IDEMPOTENCY_KEY_FORM.exec(header) ?? [];
  const key = token ?? quoted?.replace(/\\(.)/g, '$1');
  if (key === undefined) throw invalidKey(RULE);
  // The secrets from `createApiKey` and `rotateApiKey` must never be stored. Other ADMIN mutations are safe to retry without
  // a key.
  const isStored = analysis.root.fields.every(({ field }) => !field.extensions.isNeverStored);
  if (analysis.scopes.has('ADMIN') || !isStored)
    throw invalidKey('is not accepted by operations on API keys: their responses are never stored');
  if (analysis.countedFields !== 1)
    throw invalidKey(`is accepted only by mutations with one root field; this operation has ${analysis.countedFields}`);
  const text = prepared ?? print(operation.document);
  return { caller: operationRequest.caller.id, key, fingerprint: fingerprintOf([text, operation.name], variables) };
}

/** Thrown when the root field has failed, to roll back its changes. */
class Rejected extends Error {
  constructor(
    readonly body: Body,
    readonly code: string,
  ) {
    super(code);
  }
}

/**
 * The body of the response.
 * @throws Rejected if the root field failed.
 * @throws the first internal error if there is any, so that no response is stored.
 */
function bodyOf(result: ExecutionResult, mutation: AdmittedOperation): Body {
  const problems = (result.errors ?? []).map((error) => ({ error, ...problemOf(error) }));
  const failed = problems.find(({ internal }) => internal);
  if (failed) throw failed.error.originalError ?? failed.error;
  const { body } = outcomeOf(result, mutation);
  // Errors of nested fields do not undo the changes of the root field, since nested fields only read.
  const rejected = problems.find(({ error }) => error.path?.length === 1);
  if (rejected) throw new Rejected(body, rejected.code);
  return body;
}

/**
 * A hash that identifies a request.
 * @param operation the document's text or the REST operation's id, and the operation name.
 * @param variables the coerced variables, so that equal values have one representation.
 */
function fingerprintOf(
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

function invalidKey(message: string): ProblemError {
  return badInput({ path: 'Idempotency-Key', message });
}

function tooLarge(): ProblemError {
  return new ProblemError(
    'OPERATION_TOO_COMPLEX',
    'The response exceeds the 1 MiB that can be stored for an Idempotency-Key, so nothing was changed. Request fewer fields.',
  );
}

/** Deletes expired responses. @param now milliseconds since the Unix epoch. */
export function deleteExpiredResponses(now: () => number): DeleteBatch {
  return async ({ prisma }, limit) => {
    const where = { expiresAt: { lte: new Date(now()) } };
    return (await prisma.idempotencyKey.deleteMany({ where, limit })).count;
  };
}
