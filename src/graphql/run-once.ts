import { type ExecutionResult, print } from 'graphql';
import type { Context } from './context';
import { ProblemError, problemOf } from './errors';
import { fingerprintOf, Idempotency, type Run } from './idempotency';
import { parseIdempotencyKey } from './idempotency-key';
import type { Demand, Operation } from './operation';
import { bodyOf, type Outcome, refusal } from './outcome';

/** A mutation that the caller is allowed to run. */
interface Mutation {
  readonly operation: Operation;
  readonly coerced: Readonly<Record<string, unknown>>;
  readonly demand: Demand;
}

/** Runs mutations with an idempotency key: entirely in one transaction, or not at all if the response is stored. */
export class RunOnce {
  private readonly idempotency: Idempotency;

  /** @param now milliseconds of the Unix epoch. */
  constructor(now: () => number) {
    this.idempotency = new Idempotency(now);
  }

  /** @param execute runs the mutation with a context inside the transaction. */
  async run(
    { operation, coerced, demand }: Mutation,
    context: Context,
    execute: (context: Context) => Promise<ExecutionResult>,
  ): Promise<Outcome> {
    const { idempotency, caller, charge, session } = context;
    try {
      const key = parseIdempotencyKey(idempotency?.header ?? '');
      if (demand.scopes.includes('ADMIN')) throw neverKept();
      await charge?.settle();
      const text = idempotency?.operation ?? print(operation.document);
      const fingerprint = fingerprintOf([text, operation.name], coerced);
      const { cost } = demand;
      const claim = { caller: caller.id, key, fingerprint };
      const answer = await this.idempotency.run(session, claim, {
        hasSeveralFields: cost > 1,
        run: (tx) => runIn(context.within(tx), cost, execute),
      });
      return { status: 200, ...answer };
    } catch (error) {
      return { ...refusal(error, context), replayed: false };
    }
  }
}

/** @throws the first error that is not the caller's fault, so that the run is rolled back. */
async function runIn(
  context: Context,
  cost: number,
  execute: (context: Context) => Promise<ExecutionResult>,
): Promise<Run> {
  const result = await execute(context);
  const problems = (result.errors ?? []).map((error) => ({ error, ...problemOf(error) }));
  const failed = problems.find(({ internal }) => internal);
  if (failed) throw failed.error.originalError ?? failed.error;
  // If the input was rejected and nothing else was done, the caller may correct it and reuse the key.
  const isRefused = problems.length > 0 && problems.every(({ code }) => code === 'BAD_USER_INPUT');
  return { body: bodyOf(result, context, cost), isFinal: !isRefused || context.shared?.succeeded !== 0 };
}

/** The secret from `createApiKey` must never be stored; other ADMIN mutations are safe to retry without a key. */
function neverKept(): ProblemError {
  const message = 'is not accepted by operations of the scope ADMIN: their responses are never stored';
  const path = 'Idempotency-Key';
  return new ProblemError('BAD_USER_INPUT', `${path}: ${message}`, [{ path, message }]);
}
