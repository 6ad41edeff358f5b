import { LRUCache } from 'lru-cache';
import { inTime } from '../rate-limit/in-time';
import { callerKey, type RedisClient } from '../redis/redis-client';

const PREFIX = 'wrote:';
const PATIENCE_MS = 200;
const MAX_CALLERS = 100_000;

/**
 * Tracks the callers that have written within the last `windowMs`: their reads go to the primary. With Redis, all
 * instances know of a write before its response is sent. While Redis does not respond, and for one window after it is
 * back, every caller is treated as a recent writer, since other instances' records may be lost. If only one instance
 * has lost Redis, it cannot tell the others.
 */
export class RecentWriters {
  private readonly here: LRUCache<string, true>;
  private doubtUntil = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly windowMs: number,
    private readonly redis?: RedisClient,
  ) {
    this.here = new LRUCache({ max: MAX_CALLERS, ttl: windowMs });
    // A cluster that has lost one of its nodes stays ready.
    for (const event of ['ready', '-node']) redis?.on(event, () => this.doubt());
  }

  /** Records a write. Must be awaited before the response is sent. Never rejects. */
  async note(caller: string): Promise<void> {
    this.here.set(caller, true);
    if (!this.redis) return;
    const noted = this.redis.set(callerKey(this.redis, PREFIX, caller), 1, 'PX', this.windowMs);
    await inTime(noted, PATIENCE_MS).catch(() => this.doubt());
  }

  /** Never rejects. */
  has(caller: string): boolean | Promise<boolean> {
    if (this.here.has(caller)) return true;
    if (!this.redis) return false;
    if (performance.now() < this.doubtUntil) return true;
    return inTime(this.redis.exists(callerKey(this.redis, PREFIX, caller)), PATIENCE_MS).then(
      (count) => count > 0,
      () => this.doubt(),
    );
  }

  private doubt(): true {
    this.doubtUntil = performance.now() + this.windowMs;
    return true;
  }
}
