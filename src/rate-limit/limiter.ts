import { assertAccepted } from '../redis/refusals';
import type { LimitStatus, Subject } from './limit-status';
import { MemoryStore, type MemoryStoreOptions } from './memory-store';
import type { Quota } from './plans';
import type { RedisStore } from './redis-store';
import { exceedsQuota, type RequestKind, type Verdict } from './rules';

/**
 * Told of each decision that counts as usage. An allowed operation adds its cost to the requests; a refused one is one
 * refusal, whatever it would have cost, and a ban is counted with the refusal that starts it.
 * @param keyId `undefined` for anonymous callers.
 */
export type OnUsage = (keyId: string | undefined, requests: number, refused: number, bans: number) => void;

export interface LimiterOptions extends MemoryStoreOptions {
  /** Where instances count together; without it requests are counted in this process. */
  readonly redis?: Pick<RedisStore, 'take' | 'peek' | 'liftBan' | 'probe' | 'close'> | undefined;
  /** The share of each quota that this instance grants while Redis is away; with n instances, 1/n keeps to the plan. */
  readonly share?: number;
  /** How long Redis is left alone after a failure, in milliseconds. */
  readonly retryMs?: number;
  /** Called once per change between the two, with the error. Must not throw. */
  readonly onState?: (state: 'redis' | 'fallback', error?: unknown) => void;
  readonly onUsage?: OnUsage;
}

/**
 * Counts requests, whichever interface they come by: in Redis if there is one, else in memory. Each operation is atomic:
 * of concurrent requests no more pass than the quota allows. What is counted in memory is returned without a promise.
 *
 * By design, a Redis that is down must neither take the service down nor leave it unlimited: an instance goes on in
 * memory, with its share of each quota and its own bans, and tries Redis again every second. Counts made meanwhile are
 * not transferred; they stay in memory, so that a flapping Redis does not grant a new share each time.
 */
export class Limiter {
  /** Where requests are counted; `fallback`: in memory, since Redis is unreachable. */
  state: 'memory' | 'redis' | 'fallback';
  readonly decisions: Record<Verdict, number> = { allowed: 0, limited: 0, banned: 0, 'too-expensive': 0 };
  bansBegun = 0;
  private readonly memory: MemoryStore;
  private readonly options: LimiterOptions;
  /** This instance's share of each quota. */
  private readonly shares = new WeakMap<Quota, Quota>();
  private retry: NodeJS.Timeout | undefined;
  private isClosed = false;

  constructor(options: LimiterOptions) {
    this.options = options;
    this.memory = new MemoryStore(options);
    this.state = options.redis ? 'redis' : 'memory';
  }

  /**
   * Tries Redis for the first time, so that what is wrong with it is known before the first request.
   * @throws Error if Redis does not let this client count.
   */
  async start(): Promise<void> {
    await this.options.redis?.probe('').catch((error) => {
      assertAccepted(error);
      this.leaveRedis('', error);
    });
  }

  /** Takes `cost` requests (at least 1; a `free` request is always one) from both of the caller's windows, or from none. */
  take(subject: Subject, cost: number, kind: RequestKind): LimitStatus | Promise<LimitStatus> {
    const { redis } = this.options;
    const requests = kind === 'counted' ? cost : 0;
    const takeHere = () => this.count(subject.keyId, requests, this.takeHere(subject, cost, kind));
    if (!redis || this.state === 'fallback') return takeHere();
    return redis.take(subject, cost, kind).then(
      (status) => this.count(subject.keyId, requests, status),
      (error) => {
        this.leaveRedis(subject.id, error);
        return takeHere();
      },
    );
  }

  /** The caller's status; takes nothing. The verdict is `allowed` unless the caller is banned. */
  peek(subject: Subject): LimitStatus | Promise<LimitStatus> {
    const { redis } = this.options;
    if (!redis || this.state === 'fallback') return this.memory.peek(this.subjectHere(subject));
    return redis.peek(subject).catch((error) => {
      this.leaveRedis(subject.id, error);
      return this.memory.peek(this.subjectHere(subject));
    });
  }

  /** Lifts a caller's ban, here and, if reachable, in Redis. @returns whether there was one. */
  async liftBan(id: string): Promise<boolean> {
    const here = this.memory.liftBan(id);
    if (this.state !== 'redis') return here;
    const there = await this.options.redis?.liftBan(id).catch((error) => {
      this.leaveRedis(id, error);
      return false;
    });
    return here || there === true;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.retry);
    await this.options.redis?.close();
  }

  private count(keyId: string | undefined, requests: number, status: LimitStatus): LimitStatus {
    const { verdict, bannedUntil } = status;
    this.decisions[verdict] += 1;
    const beginsBan = verdict === 'limited' && bannedUntil !== undefined;
    if (beginsBan) this.bansBegun += 1;
    if (verdict === 'limited' || verdict === 'banned') this.options.onUsage?.(keyId, 0, 1, beginsBan ? 1 : 0);
    else if (verdict === 'allowed' && requests) this.options.onUsage?.(keyId, requests, 0, 0);
    return status;
  }

  /** An operation that fits the full quota takes at most the full share: it must not be too expensive for the share. */
  private takeHere(subject: Subject, cost: number, kind: RequestKind): LimitStatus {
    const here = this.subjectHere(subject);
    const most = Math.min(here.quota.perMinute, here.quota.perDay);
    return this.memory.take(here, exceedsQuota(cost, subject.quota) ? cost : Math.min(cost, most), kind);
  }

  /** The subject with what this instance grants it: all without Redis, otherwise its share, at least one request. */
  private subjectHere(subject: Subject): Subject {
    const { redis, share = 0.5 } = this.options;
    if (!redis) return subject;
    const { id, quota } = subject;
    let known = this.shares.get(quota);
    if (!known) {
      const part = (limit: number) => Math.max(1, Math.floor(limit * share));
      known = { perMinute: part(quota.perMinute), perDay: part(quota.perDay) };
      this.shares.set(quota, known);
    }
    return { id, quota: known };
  }

  /** @param id the caller whose request failed: in a cluster others may be counted by another server, which responds. */
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
