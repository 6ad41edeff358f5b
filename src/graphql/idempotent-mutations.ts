import { type ExecutionResult, print } from 'graphql';
import type { Transaction } from '../database/database';
import type { ErrorCode } from '../errors/codes';
import { ProblemError, problemOf, type Told } from '../errors/errors';
import type { Admitted } from './admission';
import type { Charge } from './charge';
import { parseIdempotencyKey } from './idempotency-header';
import { answer, type Outcome, refusal } from './outcome';
import { fingerprintOf, type Run, StoredResponses } from './stored-responses';

/** A mutation that the caller is allowed to run. */
interface Mutation extends Admitted {
  readonly charge: Charge;
}

/** Runs the mutation in a transaction. */
type Execute = (transaction: Transaction) => Promise<ExecutionResult>;

/** Runs mutations with an idempotency key: in one transaction, or not at all if the response is stored. */
export class IdempotentMutations {
  private readonly responses: StoredResponses;

  /** @param now milliseconds of the Unix epoch. */
  constructor(now: () => number) {
    this.responses = new StoredResponses(now);
  }

  async run(mutation: Mutation, execute: Execute): Promise<Outcome> {
    const { request, operation, variant, variables, charge, notice } = mutation;
    const { idempotency, caller, session } = request;
    try {
      const key = parseIdempotencyKey(idempotency?.header ?? '');
      if (variant.scopes.has('ADMIN')) throw refusedKey(NEVER_STORED);
      if (variant.requests > 1) throw refusedKey(`${ONE_FIELD}, and this operation has ${variant.requests}`);
      // A replay runs no field that would charge it.
      await charge.settle();
      const text = idempotency?.operation ?? print(operation.document);
      const fingerprint = fingerprintOf([text, operation.name], variables);
      const claim = { caller: caller.id, key, fingerprint };
      const answered = await this.responses.run(session, claim, (transaction) => runIn(transaction, mutation, execute));
      if (answered.replayed)
        for (const { extensions } of answered.body.errors ?? [])
          request.observer.onProblem(extensions as unknown as Told);
      return { status: 200, notice, ...answered };
    } catch (error) {
      return { ...refusal(error, mutation), replayed: false };
    }
  }
}

/** Thrown to roll back what a rejected field has changed. Its response is stored in the same transaction all the same. */
class Rejected extends Error {
  constructor(
    readonly result: ExecutionResult,
    readonly code: string,
  ) {
    super(code);
  }
}

/** @throws the first error that is not the caller's fault, so that nothing is stored. */
async function runIn(transaction: Transaction, mutation: Mutation, execute: Execute): Promise<Run> {
  const run = async (savepoint: Transaction) => {
    const result = await execute(savepoint);
    const problems = (result.errors ?? []).map((error) => ({ error, ...problemOf(error) }));
    const failed = problems.find(({ internal }) => internal);
    if (failed) throw failed.error.originalError ?? failed.error;
    // Fields below the root field only read.
    const rejected = problems.find(({ error }) => error.path?.length === 1);
    if (rejected) throw new Rejected(result, rejected.code);
    return { result, code: undefined };
  };
  const { result, code } = await transaction.transaction(run).catch((error) => {
    if (error instanceof Rejected) return error;
    throw error;
  });
  return { body: answer(result, mutation).body, isFinal: code === undefined || !CORRECTABLE.includes(code) };
}

/** After these nothing is stored: the caller may correct the input or the version, and use the key again. */
const CORRECTABLE: readonly string[] = ['BAD_USER_INPUT', 'PRECONDITION_FAILED'] satisfies ErrorCode[];

/** The secret from `createApiKey` or `rotateApiKey` must never be stored; other ADMIN mutations are safe to retry without a key. */
const NEVER_STORED = 'is not accepted by operations of the scope ADMIN: their responses are never stored';
const ONE_FIELD = 'is accepted by mutations of one root field';

function refusedKey(message: string): ProblemError {
  const path = 'Idempotency-Key';
  return new ProblemError('BAD_USER_INPUT', `${path}: ${message}`, [{ path, message }]);
}
