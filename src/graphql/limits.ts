import type { Meter } from '../rate-limit/meter';
import type { Standing } from '../rate-limit/standing';
import { type Problem, ProblemError } from './errors';

/** What an operation costs, and the meter that it is taken from: once, whole, by whichever field comes first. */
export class Charge {
  constructor(
    readonly meter: Meter,
    /** How many counted root fields would run; 0 for an operation that is free of quota. */
    readonly cost: number,
  ) {}

  /** Settles the charge of the whole operation. @throws ProblemError `RATE_LIMITED`, `KEY_BANNED`. */
  async settle(): Promise<Standing> {
    const standing = await this.meter.take(this.cost);
    const refusal = refusalOf(standing);
    if (refusal) throw refusal;
    return standing;
  }
}

/** The error of a request that its caller's standing refuses; `undefined` if it may pass. */
export function refusalOf(standing: Standing): ProblemError | undefined {
  const problem = problemOfStanding(standing);
  return problem && new ProblemError(problem.code, problem.message);
}

/** What that error says, without the error: under a flood it is told thousands of times a second. */
export function problemOfStanding({ verdict, inForce, retryAfterMs = 0 }: Standing): Problem | undefined {
  if (verdict !== 'banned' && verdict !== 'limited') return undefined;
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  const retry = `Try again in ${seconds} second${seconds === 1 ? '' : 's'}.`;
  return verdict === 'banned'
    ? { code: 'KEY_BANNED', status: 429, message: `Banned after too many refused requests. ${retry}` }
    : {
        code: 'RATE_LIMITED',
        status: 429,
        message: `${EXCEEDED[inForce.name]} ${inForce.limit} requests per ${inForce.name === 'day' ? 'day' : 'minute'}. ${retry}`,
      };
}

const EXCEEDED = {
  minute: 'This plan allows',
  day: 'This plan allows',
  uncounted: 'Operations that use no quota are limited to',
};
