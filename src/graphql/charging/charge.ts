import { type Problem, ProblemError } from '../../errors/problem';
import type { LimitStatus } from '../../rate-limit/limit-status';
import type { Meter } from '../../rate-limit/meter';

/** The cost of an operation, which is charged once and in full, by whichever of its counted fields runs first. */
export class Charge {
  /** Why it was refused, or failed. */
  problem: unknown;
  private settled: LimitStatus | Promise<LimitStatus> | undefined;

  constructor(
    private readonly meter: Meter,
    /** The number of counted fields; 0 for an operation that uses no quota. */
    readonly cost: number,
  ) {}

  /** Charges the whole operation, once. @throws ProblemError `RATE_LIMITED`, `KEY_BANNED`. */
  settle(): LimitStatus | Promise<LimitStatus> {
    if (this.problem) throw this.problem;
    this.settled ??= this.take();
    return this.settled;
  }

  private take(): LimitStatus | Promise<LimitStatus> {
    try {
      const taken = this.meter.take(this.cost);
      if (!(taken instanceof Promise)) return this.check(taken);
      return taken.then(
        (standing) => this.check(standing),
        (error) => this.fail(error),
      );
    } catch (error) {
      return this.fail(error);
    }
  }

  private check(standing: LimitStatus): LimitStatus {
    const refusal = refusalOf(standing);
    return refusal ? this.fail(refusal) : standing;
  }

  private fail(problem: unknown): never {
    this.problem = problem;
    throw problem;
  }
}

/** The error for a request that its caller's standing rejects; `undefined` if it may proceed. */
export function refusalOf(standing: LimitStatus): ProblemError | undefined {
  const problem = problemOfStatus(standing);
  return problem && new ProblemError(problem.code, problem.message);
}

/** The same without an `Error` object: under a flood it is needed thousands of times a second. */
export function problemOfStatus({ verdict, inForce, retryAfterMs = 0 }: LimitStatus): Problem | undefined {
  if (verdict !== 'banned' && verdict !== 'limited') return undefined;
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  const retry = `Try again in ${seconds} second${seconds === 1 ? '' : 's'}.`;
  return verdict === 'banned'
    ? { code: 'KEY_BANNED', status: 429, message: `Banned after too many refused requests. ${retry}` }
    : { code: 'RATE_LIMITED', status: 429, message: `${EXCEEDED[inForce.name](inForce.limit)} ${retry}` };
}

const EXCEEDED = {
  minute: (limit: number) => `This plan allows ${limit} requests per minute.`,
  day: (limit: number) => `This plan allows ${limit} requests per day.`,
  uncounted: (limit: number) => `Requests that use no quota are limited to ${limit} per minute.`,
};
