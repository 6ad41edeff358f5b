import { refusalOf } from '../rate-limit/limit-problem';
import type { LimitStatus } from '../rate-limit/limit-status';
import type { Meter } from '../rate-limit/meter';

/** The cost of an operation, which is charged once and in full, by whichever of its counted fields runs first. */
export class Charge {
  /** Why it was refused, or failed. */
  problem: unknown;
  private settled: LimitStatus | Promise<LimitStatus> | undefined;
  private passed: Promise<unknown> | undefined;

  /** @param cost the number of counted fields; 0 for an operation that uses no quota. */
  constructor(
    private readonly meter: Meter,
    readonly cost: number,
  ) {}

  /** Passes the limiter in front of a counted field; for all further ones the first decides. Rejects as {@link settle}. */
  pass(limiter: (charge: Charge) => Promise<unknown>): Promise<unknown> {
    this.passed ??= limiter(this);
    return this.passed;
  }

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
      return taken.then((limitStatus) => this.check(limitStatus)).catch((error) => this.refuse(error));
    } catch (error) {
      return this.refuse(error);
    }
  }

  private check(limitStatus: LimitStatus): LimitStatus {
    const refusal = refusalOf(limitStatus);
    return refusal ? this.refuse(refusal) : limitStatus;
  }

  /** Refuses the whole operation, whatever else of it has been computed. @throws the problem. */
  refuse(problem: unknown): never {
    this.problem = problem;
    throw problem;
  }
}
