import { LRUCache } from 'lru-cache';
import type { Deadline } from '../database/deadline';
import { ProblemError } from '../errors/errors';
import type { Limiter } from './limiter';
import { PLANS } from './plans';

/** The error for a look-up over the limit. One instance for all requests, since a stack trace is expensive under a flood. */
export const TOO_MANY_LOOK_UPS = new ProblemError(
  'RATE_LIMITED',
  'Too many unknown keys were sent from this address. Try again in 1 second.',
);

/** Maximum number of look-ups per second for an address that is banned or has used up its quota. */
const PER_SECOND = 2;
/** Maximum number of look-ups that wait for other look-ups of the same address, while the address has quota. */
const MAX_WAITING = 1000;
/** Maximum number of addresses in memory. An evicted address starts anew. */
const MAX_ADDRESSES = 10_000;

interface Address {
  running: number;
  /** Starts a waiting look-up, first come, first served. */
  readonly waiting: (() => void)[];
  /** The number of unfinished look-ups of the address while it is banned or has no quota left. */
  slow: number;
  /** When the last two of these look-ups started, in `performance.now()` time. */
  readonly starts: number[];
  last: Promise<unknown>;
}

/**
 * Limits the look-ups of credentials that this instance does not know, by client address. A wrong credential is charged to its
 * address, so the number of concurrent look-ups never exceeds the remaining quota of the address. An address that is banned or
 * has no quota left gets two look-ups per second, one after the other, so that a valid credential still gets through.
 */
export class LookUps {
  private readonly addresses = new LRUCache<string, Address>({
    max: MAX_ADDRESSES,
    memoMethod: () => ({ running: 0, waiting: [], slow: 0, starts: [], last: Promise.resolve() }),
  });

  constructor(private readonly limits: Pick<Limiter, 'peek'>) {}

  /**
   * Runs a look-up. If the result shows that the credential is wrong, the caller of this method must charge the address at once.
   * @param id the client's address as a rate-limit subject.
   * @param deadline ends the wait for other look-ups of the address.
   * @throws ProblemError {@link TOO_MANY_LOOK_UPS}; Ended if the deadline ends first; the errors of `lookUp`.
   */
  async run<Result>(id: string, deadline: Deadline, lookUp: () => Promise<Result>): Promise<Result> {
    const address = this.addresses.memo(id);
    for (;;) {
      const left = await this.quotaLeft(id);
      const { reason } = deadline;
      if (reason || !(left > 0)) address.waiting.shift()?.();
      if (reason) throw reason;
      if (!(left > 0)) return runSlowly(address, lookUp);
      if (address.running < left) return runAtOnce(address, lookUp);
      if (address.waiting.length >= MAX_WAITING) throw TOO_MANY_LOOK_UPS;
      await wait(address, deadline);
    }
  }

  private async quotaLeft(id: string): Promise<number> {
    const { verdict, inForce } = await this.limits.peek({ id, quota: PLANS.FREE });
    return verdict === 'allowed' ? inForce.remaining : 0;
  }
}

/** @throws Ended if the deadline ends first. */
function wait({ waiting }: Address, deadline: Deadline): Promise<void> {
  return new Promise((resolve, reject) => {
    const start = () => {
      stop();
      resolve();
    };
    waiting.push(start);
    const stop = deadline.onEnd(() => {
      const index = waiting.indexOf(start);
      if (index >= 0) waiting.splice(index, 1);
      reject(deadline.reason);
    });
  });
}

async function runAtOnce<Result>(address: Address, lookUp: () => Promise<Result>): Promise<Result> {
  address.running++;
  try {
    return await lookUp();
  } finally {
    // The next look-up starts after the result has been charged.
    setImmediate(() => {
      address.running--;
      address.waiting.shift()?.();
    });
  }
}

function runSlowly<Result>(address: Address, lookUp: () => Promise<Result>): Promise<Result> {
  const { starts } = address;
  const now = performance.now();
  const isOver = starts.length === PER_SECOND && now - (starts[0] ?? 0) < 1000;
  if (isOver || address.slow === PER_SECOND) throw TOO_MANY_LOOK_UPS;
  starts.push(now);
  if (starts.length > PER_SECOND) starts.shift();
  address.slow++;
  const running = address.last.then(lookUp).finally(() => address.slow--);
  address.last = running.catch(() => undefined);
  return running;
}
