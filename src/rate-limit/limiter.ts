import { LRUCache } from 'lru-cache';
import { assertAccepted } from '../redis/rejections';
import type { LimitStatus, Subject } from './limit-status';
import { MemoryStore, type MemoryStoreOptions } from './memory-store';
import type { Quota } from './plans';
import type { RedisStore } from './redis-store';
import { exceedsQuota, type RequestKind, type Verdict } from './rules';

/**
 * Called for each decision that counts as usage. For an allowed operation, `requests` is the number of its requests. For a
 * rejected operation, `refused` is 1, and `bans` is 1 if the rejection starts a ban.
 * @param recordedAs see {@link Subject}.
 */
export type OnUsage = (recordedAs: string | undefined, requests: number, refused: number, bans: number) => void;

export interface LimiterOptions extends MemoryStoreOptions {
  /** The store that all instances share. Without it, requests are counted in this process. */
  readonly redis?: Pick<RedisStore, 'take' | 'peek' | 'liftBan' | 'probe' | 'close'> | undefined;
  /**
   * The fraction of each quota that this instance grants while Redis is unreachable. With n instances, the fraction 1/n
   * keeps the total within the plan.
   */
  readonly fallbackFraction?: number;
  /** How long requests are counted in memory before Redis is tried again, in milliseconds. */
  readonly retryMs?: number;
  /** Called when the store changes, with the error if Redis failed. Must not throw. */
  readonly onState?: (state: 'redis' | 'fallback', error?: unknown) => void;
  readonly onUsage?: OnUsage;
}

/** A ban of a caller, as Redis reported it. */
interface KnownBan {
  readonly status: LimitStatus;
  /** When Redis reported the status, in milliseconds since the Unix epoch. */
  readonly at: number;
  /** When Redis was last asked, in `performance.now()` time. */
  checkedAt: number;
}

/** Maximum number of bans that an instance remembers. */
const MAX_BANS = 10_000;
/** A ban that another instance has lifted ends on this instance within this time, in milliseconds. */
const RECHECK_MS = 5_000;

/**
 * Counts the requests of all interfaces, in Redis if it is configured, else in memory. Each decision is atomic, so
 * concurrent requests cannot exceed the quota. Decisions in memory are returned without a promise.
 *
 * If Redis is unreachable, the service must neither fail nor allow unlimited requests. The instance then counts in memory,
 * with a fraction of each quota, and tries Redis again every second. The bans that Redis has reported to it remain in force.
 * Counts in memory are not transferred to Redis. They stay in memory, so that callers do not get a new quota each time Redis
 * fails.
 */
export class Limiter {
  /** The store in use. With `fallback`, requests are counted in memory because Redis is unreachable. */
  state: 'memory' | 'redis' | 'fallback';
  readonly decisions: Record<Verdict, number> = { allowed: 0, limited: 0, banned: 0, 'too-expensive': 0 };
  bansBegun = 0;
  private readonly memory: MemoryStore;
  /** The bans that Redis has reported, by caller. */
  private readonly bans = new LRUCache<string, KnownBan>({ max: MAX_BANS });
  private readonly options: LimiterOptions;
  /** A cache of the reduced quotas for the fallback, by the quota of the plan. */
  private readonly fallbackQuotas = new WeakMap<Quota, Quota>();
  private retry: NodeJS.Timeout | undefined;
  private isClosed = false;

  constructor(options: LimiterOptions) {
    this.options = options;
    this.memory = new MemoryStore(options);
    this.state = options.redis ? 'redis' : 'memory';
  }

  /**
   * Tests Redis, so that a wrong configuration is reported at start.
   * @throws Error if Redis rejects this client.
   */
  async start(): Promise<void> {
    await this.options.redis?.probe('').catch((error) => {
      assertAccepted(error);
      this.leaveRedis('', error);
    });
  }

  /**
   * Charges a request to the caller. Counted requests are taken from both windows, or from neither.
   * @param requests at least 1; always 1 for a free request.
   */
  take(subject: Subject, requests: number, kind: RequestKind): LimitStatus | Promise<LimitStatus> {
    const { redis } = this.options;
    const counted = kind === 'counted' ? requests : 0;
    const takeInMemory = () => this.record(subject.recordedAs, counted, this.takeInMemory(subject, requests, kind));
    if (!redis || this.state === 'fallback') return takeInMemory();
    return redis.take(subject, requests, kind).then(
      (status) => this.record(subject.recordedAs, counted, this.noteBan(subject, status)),
      (error) => {
        this.leaveRedis(subject.id, error);
        return takeInMemory();
      },
    );
  }

  /** Returns the caller's status without charging a request. The verdict is `banned` or `allowed`. */
  peek(subject: Subject): LimitStatus | Promise<LimitStatus> {
    const { redis } = this.options;
    if (!redis || this.state === 'fallback') return this.peekInMemory(subject);
    return redis.peek(subject).then(
      (status) => this.noteBan(subject, status),
      (error) => {
        this.leaveRedis(subject.id, error);
        return this.peekInMemory(subject);
      },
    );
  }

  /**
   * Records a rejected request, if this instance knows the caller to be banned. Redis is asked at most once in {@link RECHECK_MS}
   * milliseconds for each of these callers.
   * @returns the status with the verdict `banned`; `undefined` if no ban is known.
   */
  recordKnownBan(subject: Subject): LimitStatus | undefined | Promise<LimitStatus | undefined> {
    const { redis } = this.options;
    const { id, recordedAs } = subject;
    const known = this.knownBan(id);
    if (!redis || this.state === 'fallback') {
      if (!known && !this.memory.isBanned(id)) return undefined;
      return this.record(recordedAs, 0, known ?? this.peekInMemory(subject));
    }
    const ban = known && this.bans.get(id);
    if (!ban) return undefined;
    if (performance.now() - ban.checkedAt < RECHECK_MS) return this.record(recordedAs, 0, known);
    ban.checkedAt = performance.now();
    return (async () => {
      const { verdict } = await this.peek(subject);
      return verdict === 'banned' ? this.record(recordedAs, 0, this.knownBan(id) ?? known) : undefined;
    })();
  }

  /**
   * Lifts a caller's ban in memory and, if reachable, in Redis.
   * @param windowsOf see {@link Subject}.
   * @returns whether the caller was banned.
   */
  async liftBan(id: string, windowsOf?: string): Promise<boolean> {
    const known = this.knownBan(id) !== undefined;
    this.bans.delete(id);
    const here = this.memory.liftBan(id);
    if (this.state !== 'redis') return here || known;
    const there = await this.options.redis?.liftBan(id, windowsOf).catch((error) => {
      this.leaveRedis(id, error);
      return known;
    });
    return here || there === true;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.retry);
    await this.options.redis?.close();
  }

  private noteBan({ id }: Subject, status: LimitStatus): LimitStatus {
    if (status.bannedUntil !== undefined)
      this.bans.set(id, { status, at: this.options.now(), checkedAt: performance.now() });
    else if (this.bans.size > 0) this.bans.delete(id);
    return status;
  }

  /** The status of a caller whose ban Redis has reported, until the ban ends; `undefined` for other callers. */
  private knownBan(id: string): LimitStatus | undefined {
    const ban = this.bans.size > 0 ? this.bans.get(id) : undefined;
    if (!ban) return undefined;
    const { status, at } = ban;
    const now = this.options.now();
    const { bannedUntil = 0, retryAfterMs = 0 } = status;
    // If the clock has been set back, Redis knows how long the ban lasts.
    if (!(bannedUntil > now) || now < at) {
      this.bans.delete(id);
      return undefined;
    }
    const retryAt = Math.max(bannedUntil, at + retryAfterMs);
    return { ...status, verdict: 'banned', retryAfterMs: retryAt - now };
  }

  private record(recordedAs: string | undefined, requests: number, status: LimitStatus): LimitStatus {
    const { verdict, bannedUntil } = status;
    this.decisions[verdict] += 1;
    const beginsBan = verdict === 'limited' && bannedUntil !== undefined;
    if (beginsBan) this.bansBegun += 1;
    if (verdict === 'limited' || verdict === 'banned') this.options.onUsage?.(recordedAs, 0, 1, beginsBan ? 1 : 0);
    else if (verdict === 'allowed' && requests) this.options.onUsage?.(recordedAs, requests, 0, 0);
    return status;
  }

  /**
   * Counts in memory. An operation within the quota of the plan takes at most the whole fallback quota, so that it is not
   * rejected as too expensive.
   */
  private takeInMemory(subject: Subject, requests: number, kind: RequestKind): LimitStatus {
    const known = this.knownBan(subject.id);
    if (known) return known;
    const here = this.subjectInMemory(subject);
    const most = Math.min(here.quota.perMinute, here.quota.perDay);
    return this.memory.take(here, exceedsQuota(requests, subject.quota) ? requests : Math.min(requests, most), kind);
  }

  private peekInMemory(subject: Subject): LimitStatus {
    return this.knownBan(subject.id) ?? this.memory.peek(this.subjectInMemory(subject));
  }

  /**
   * The subject with the quota that applies while this instance counts in memory. Without Redis, the full quota applies.
   * Otherwise the fallback fraction of each limit applies, but at least one request.
   */
  private subjectInMemory(subject: Subject): Subject {
    const { redis, fallbackFraction = 0.5 } = this.options;
    if (!redis) return subject;
    const { id, quota, windowsOf } = subject;
    let known = this.fallbackQuotas.get(quota);
    if (!known) {
      const part = (limit: number) => Math.max(1, Math.floor(limit * fallbackFraction));
      known = { perMinute: part(quota.perMinute), perDay: part(quota.perDay) };
      this.fallbackQuotas.set(quota, known);
    }
    return { id, quota: known, windowsOf };
  }

  /** @param id the caller whose request failed. The probe for recovery uses this id to reach the same cluster node. */
  private leaveRedis(id: string, error: unknown): void {
    if (this.isClosed || this.state === 'fallback') return;
    this.state = 'fallback';
    this.options.onState?.('fallback', error);
    this.retryLater(id);
  }

  private retryLater(id: string): void {
    this.retry = setTimeout(() => {
      this.options.redis?.probe(id).then(
        () => this.returnToRedis(),
        () => this.isClosed || this.retryLater(id),
      );
    }, this.options.retryMs ?? 1000).unref();
  }

  private returnToRedis(): void {
    if (this.isClosed) return;
    this.state = 'redis';
    this.options.onState?.('redis');
  }
}
