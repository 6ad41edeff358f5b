import { limitError } from '../rate-limit/limit-problem';
import type { LimitStatus } from '../rate-limit/limit-status';
import type { Meter } from '../rate-limit/meter';

/** Charges an operation for all of its counted fields at once, before the first of these fields runs. */
export class Charge {
  /** The error that rejects the whole operation, even if some of its fields have run; `undefined` if there is none. */
  problem: unknown;
  private settled: Promise<LimitStatus> | undefined;

  /** @param countedFields the number of requests to charge; 0 for an operation that uses no quota. */
  constructor(
    private readonly meter: Meter,
    readonly countedFields: number,
  ) {}

  /** Charges the whole operation, once. @throws ProblemError `RATE_LIMITED`, `KEY_BANNED`. */
  settle(): Promise<LimitStatus> {
    this.settled ??= this.take();
    return this.settled;
  }

  private async take(): Promise<LimitStatus> {
    try {
      const limitStatus = await this.meter.take(this.countedFields);
      const refused = limitError(limitStatus);
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
