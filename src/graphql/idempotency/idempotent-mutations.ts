import { type ExecutionResult, print } from 'graphql';
import type { Transaction } from '../../database/database';
import type { ErrorCode } from '../../errors/error-codes';
import { ProblemError, problemOf, type Told } from '../../errors/problem';
import type { Charge } from '../charging/charge';
import type { Admitted } from '../executor/admission';
import { answer, type Outcome, refusal } from '../executor/outcome';
import { parseIdempotencyKey } from './idempotency-header';
import { fingerprintOf, type Run, StoredResponses } from './stored-responses';

/** A mutation that the caller is allowed to run. */
interface Mutation extends Admitted {
  readonly charge: Charge;
}

/** Runs the mutation in a transaction. @param shared counts its root fields that succeed. */
type Execute = (transaction: Transaction, shared: { succeeded: number }) => Promise<ExecutionResult>;

/** Runs mutations with an idempotency key: entirely in one transaction, or not at all if the response is stored. */
export class IdempotentMutations {
  private readonly responses: StoredResponses;

  /** @param now milliseconds of the Unix epoch. */
  constructor(now: () => number) {
    this.responses = new StoredResponses(now);
  }

  async run(mutation: Mutation, execute: Execute): Promise<Outcome> {
    const { request, operation, plan, variables, charge, notice } = mutation;
    const { idempotency, caller, session } = request;
    try {
      const key = parseIdempotencyKey(idempotency?.header ?? '');
      if (plan.scopes.has('ADMIN')) throw neverKept();
      // A replay runs no field that would charge it.
      await charge.settle();
      const text = idempotency?.operation ?? print(operation.document);
      const fingerprint = fingerprintOf([text, operation.name], variables);
      const claim = { caller: caller.id, key, fingerprint };
      const answered = await this.responses.run(session, claim, {
        hasSeveralFields: plan.root.fields.length > 1,
        run: (transaction) => runIn(transaction, mutation, execute),
      });
      if (answered.replayed)
        for (const { extensions } of answered.body.errors ?? [])
          request.observer.onProblem(extensions as unknown as Told);
      return { status: 200, notice, ...answered };
    } catch (error) {
      return { ...refusal(error, mutation), replayed: false };
    }
  }
}

/** @throws the first error that is not the caller's fault, so that the run is rolled back. */
async function runIn(transaction: Transaction, mutation: Mutation, execute: Execute): Promise<Run> {
  const shared = { succeeded: 0 };
  const result = await execute(transaction, shared);
  const problems = (result.errors ?? []).map((error) => ({ error, ...problemOf(error) }));
  const failed = problems.find(({ internal }) => internal);
  if (failed) throw failed.error.originalError ?? failed.error;
  // If nothing was done but to refuse the input or an outdated version, the caller may correct it and reuse the key.
  const isRefused = problems.length > 0 && problems.every(({ code }) => CORRECTABLE.includes(code));
  const { body } = answer(result, mutation);
  return { body, isFinal: !isRefused || shared.succeeded > 0 };
}

const CORRECTABLE: readonly ErrorCode[] = ['BAD_USER_INPUT', 'PRECONDITION_FAILED'];

/** The secret from `createApiKey` or `rotateApiKey` must never be stored; other ADMIN mutations are safe to retry without a key. */
function neverKept(): ProblemError {
  const message = 'is not accepted by operations of the scope ADMIN: their responses are never stored';
  const path = 'Idempotency-Key';
  return new ProblemError('BAD_USER_INPUT', `${path}: ${message}`, [{ path, message }]);
}
