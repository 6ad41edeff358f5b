import type { LimitStatus, Subject } from './limit-status';
import type { Quota } from './plans';
import { isTooExpensive, type RequestKind } from './rules';
import type { SharedStore, Store } from './store';

export interface FallbackStoreOptions {
  /** The share of each quota that this instance grants without Redis; with n instances, 1/n keeps to the plan. */
  readonly share?: number;
  /** How long to wait before trying Redis again, in milliseconds. */
  readonly retryMs?: number;
  /** How many keys a trial writes to: in a cluster enough of them that every node with slots has one. */
  readonly trials?: number;
  /** Called once per change, with the error. Must not throw. */
  readonly onState?: (state: 'redis' | 'fallback', error?: unknown) => void;
}

/** After this many failed attempts in a row the connection may be dead unnoticed by either side: a new one is opened. */
const TRIES_PER_CONNECTION = 5;

/** Does what a request does (write, expire), so that a Redis that only responds to pings does not pass for a working one. */
const PROBE: Subject = { id: 'probe', quota: { perMinute: 1_000_000, perDay: 1_000_000 } };

/**
 * Counts in Redis while it responds, otherwise in memory. By design, a limiter that is down must neither take the shop
 * down nor leave it unlimited. So each instance continues alone with its share of each quota and its own bans, and
 * returns to Redis by itself. Counts made alone are not transferred; they stay in memory, so that a flapping Redis does
 * not grant a new share each time.
 */
export class FallbackStore implements Store {
  /** This instance's share of each quota. */
  private readonly shares = new WeakMap<Quota, Quota>();
  private readonly options: Required<FallbackStoreOptions>;
  private current: 'redis' | 'fallback' = 'redis';
  private retry: NodeJS.Timeout | undefined;
  private failedTries = 0;
  private closed = false;

  constructor(
    private readonly redis: SharedStore,
    private readonly memory: Store,
    options: FallbackStoreOptions = {},
  ) {
    this.options = { share: 0.5, retryMs: 1000, trials: 1, onState: () => undefined, ...options };
  }

  /**
   * Tries Redis for the first time, so that what is wrong with it is known before the first request.
   * @param isFatal whether an error is thrown, because it is there to stay.
   */
  async start(isFatal: (error: unknown) => boolean): Promise<void> {
    try {
      await this.tryRedis();
    } catch (error) {
      if (isFatal(error)) throw error;
      this.leave(error);
    }
  }

  get state(): 'redis' | 'fallback' {
    return this.current;
  }

  take(subject: Subject, cost: number, kind: RequestKind): LimitStatus | Promise<LimitStatus> {
    const alone = () => this.takeAlone(subject, cost, kind);
    return this.current === 'redis' ? this.orElse(this.redis.take(subject, cost, kind), alone) : alone();
  }

  peek(subject: Subject): LimitStatus | Promise<LimitStatus> {
    const alone = () => this.memory.peek(this.sharing(subject));
    return this.current === 'redis' ? this.orElse(this.redis.peek(subject), alone) : alone();
  }

  /** Lifts the ban here and, if reachable, in Redis. */
  async liftBan(id: string): Promise<boolean> {
    const here = await this.memory.liftBan(id);
    if (this.current === 'fallback') return here;
    return (await this.orElse(this.redis.liftBan(id), () => false)) || here;
  }

  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.retry);
    await Promise.all([this.redis.close(), this.memory.close()]);
  }

  /** An operation that fits the full quota takes at most the full share: it must not be too expensive for the share. */
  private takeAlone(subject: Subject, cost: number, kind: RequestKind): LimitStatus | Promise<LimitStatus> {
    const sharing = this.sharing(subject);
    const most = Math.min(sharing.quota.perMinute, sharing.quota.perDay);
    return this.memory.take(sharing, isTooExpensive(cost, subject.quota) ? cost : Math.min(cost, most), kind);
  }

  /** The subject with what this instance grants it: at least one request. */
  private sharing({ id, quota }: Subject): Subject {
    const part = (limit: number) => Math.max(1, Math.floor(limit * this.options.share));
    let known = this.shares.get(quota);
    if (!known) {
      known = { perMinute: part(quota.perMinute), perDay: part(quota.perDay) };
      this.shares.set(quota, known);
    }
    return { id, quota: known };
  }

  private orElse<T>(shared: Promise<T>, alone: () => T | Promise<T>): Promise<T> {
    return shared.catch((error) => {
      this.leave(error);
      return alone();
    });
  }

  private leave(error: unknown): void {
    if (this.closed || this.current === 'fallback') return;
    this.current = 'fallback';
    this.scheduleProbe();
    this.options.onState('fallback', error);
  }

  private scheduleProbe(): void {
    this.retry = setTimeout(() => void this.probe(), this.options.retryMs).unref();
  }

  private async tryRedis(): Promise<void> {
    const ids = Array.from({ length: this.options.trials }, (_, i) => (i ? `${PROBE.id}-${i}` : PROBE.id));
    await Promise.all(ids.map((id) => this.redis.take({ ...PROBE, id }, 1, 'free')));
  }

  private async probe(): Promise<void> {
    try {
      await this.tryRedis();
    } catch {
      if (this.closed) return;
      this.failedTries += 1;
      if (this.failedTries % TRIES_PER_CONNECTION === 0) this.redis.reconnect();
      this.scheduleProbe();
      return;
    }
    if (this.closed) return;
    this.failedTries = 0;
    this.current = 'redis';
    this.options.onState('redis');
  }
}
