import type { Meter } from '../rate-limit/meter';
import type { Standing } from '../rate-limit/standing';
import { ProblemError } from './errors';

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
export function refusalOf({ verdict, inForce, retryAfterMs = 0 }: Standing): ProblemError | undefined {
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  const retry = `Try again in ${seconds} second${seconds === 1 ? '' : 's'}.`;
  if (verdict === 'banned') {
    return new ProblemError('KEY_BANNED', `Banned for going on after too many refusals. ${retry}`);
  }
  if (verdict === 'limited') {
    return new ProblemError('RATE_LIMITED', `Only ${inForce.limit} ${UNITS[inForce.name]}. ${retry}`);
  }
  return undefined;
}

const UNITS = {
  minute: 'requests a minute are in this plan',
  day: 'requests a day are in this plan',
  uncounted: 'requests a minute that are free of quota are allowed',
};
