import type { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import { inTime } from '../rate-limit/in-time';

const PREFIX = 'wrote:';
const PATIENCE_MS = 200;
const MAX_CALLERS = 100_000;

/**
 * Who has written something within the last `windowMs`: whose reads belong on the primary. With Redis all instances know
 * of it before the write is answered. While Redis does not answer, and for one window after that, everybody counts as
 * one who has written: what others noted meanwhile is not known.
 */
export class RecentWriters {
  private readonly here: LRUCache<string, true>;
  private doubtUntil = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly windowMs: number,
    private readonly redis?: Pick<Redis, 'set' | 'exists'>,
  ) {
    this.here = new LRUCache({ max: MAX_CALLERS, ttl: windowMs });
  }

  /** To be waited for before the answer to a write goes out. Never rejects. */
  async note(caller: string): Promise<void> {
    this.here.set(caller, true);
    if (!this.redis) return;
    const noted = this.redis.set(PREFIX + caller, 1, 'PX', this.windowMs);
    await inTime(noted, PATIENCE_MS).catch(() => this.doubt());
  }

  /** Never rejects. */
  has(caller: string): boolean | Promise<boolean> {
    if (this.here.has(caller)) return true;
    if (!this.redis) return false;
    if (performance.now() < this.doubtUntil) return true;
    return inTime(this.redis.exists(PREFIX + caller), PATIENCE_MS).then(
      (count) => count > 0,
      () => this.doubt(),
    );
  }

  private doubt(): true {
    this.doubtUntil = performance.now() + this.windowMs;
    return true;
  }
}
