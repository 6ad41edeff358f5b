import { refusalOf } from '../rate-limit/limit-problem';
import type { LimitStatus } from '../rate-limit/limit-status';
import type { Meter } from '../rate-limit/meter';

/** The cost of an operation, which is charged once and in full, by whichever of its counted fields runs first. */
export class Charge {
  /** Why the whole operation is rejected, whatever of it has been computed; `undefined` if it is not. */
  problem: unknown;
  private settled: Promise<LimitStatus> | undefined;

  /** @param cost the number of counted fields; 0 for an operation that uses no quota. */
  constructor(
    private readonly meter: Meter,
    readonly cost: number,
  ) {}

  /** Charges the whole operation, once. @throws ProblemError `RATE_LIMITED`, `KEY_BANNED`. */
  settle(): Promise<LimitStatus> {
    this.settled ??= this.take();
    return this.settled;
  }

  private async take(): Promise<LimitStatus> {
    try {
      const limitStatus = await this.meter.take(this.cost);
      const refused = refusalOf(limitStatus);
      if (refused) throw refused;
      return limitStatus;
    } catch (problem) {
      return this.refuse(problem);
    }
  }

  /** Rejects the whole operation. @throws the problem. */
  refuse(problem: unknown): never {
    this.problem = problem;
    throw problem;
  }
}
