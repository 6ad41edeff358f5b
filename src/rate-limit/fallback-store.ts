import { isTooExpensive, type Kind } from './rules';
import { Share } from './share';
import type { Standing, Subject } from './standing';
import type { SharedStore, Store } from './store';

export interface FallbackStoreOptions {
  /** The part of each quota that this instance gives out alone; with n instances, 1/n keeps to the plan. */
  readonly share?: number;
  /** How long to leave Redis alone before it is tried again. */
  readonly retryMs?: number;
  /** Told once per change, with what went wrong. Must not throw. */
  readonly onState?: (state: 'redis' | 'fallback', error?: unknown) => void;
}

/** After so many failed tries in a row the connection may be dead without either side having noticed: a new one is made. */
const TRIES_PER_CONNECTION = 5;

/** Does what a request does (write, expire), so that a Redis that only answers pings is not taken for one that works. */
const PROBE: Subject = { id: 'probe', quota: { perMinute: 1_000_000, perDay: 1_000_000 } };

/**
 * Counts in Redis while it answers, else in memory. The declared choice: a limiter that is down must not take the shop down
 * with it, nor leave it without limits. So each instance goes on alone with its share of each quota and with its own bans,
 * and goes back by itself. What was counted alone is not carried over; it stays in memory, so that a Redis that comes and
 * goes does not give out a new share each time.
 */
export class FallbackStore implements Store {
  private readonly share: Share;
  private readonly retryMs: number;
  private readonly onState: NonNullable<FallbackStoreOptions['onState']>;
  private current: 'redis' | 'fallback' = 'redis';
  private retry: NodeJS.Timeout | undefined;
  private failedTries = 0;
  private closed = false;

  constructor(
    private readonly redis: SharedStore,
    private readonly memory: Store,
    { share = 0.5, retryMs = 1000, onState = () => undefined }: FallbackStoreOptions = {},
  ) {
    this.share = new Share(share);
    this.retryMs = retryMs;
    this.onState = onState;
  }

  get state(): 'redis' | 'fallback' {
    return this.current;
  }

  take(subject: Subject, cost: number, kind: Kind): Standing | Promise<Standing> {
    const alone = () => this.takeAlone(subject, cost, kind);
    return this.current === 'redis' ? this.orElse(this.redis.take(subject, cost, kind), alone) : alone();
  }

  peek(subject: Subject): Standing | Promise<Standing> {
    const alone = () => this.memory.peek(this.share.of(subject));
    return this.current === 'redis' ? this.orElse(this.redis.peek(subject), alone) : alone();
  }

  /** Ends the ban here and in Redis, if that is in reach. */
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

  /** An operation that the whole quota has room for takes at most the whole share: there it is not too expensive. */
  private takeAlone(subject: Subject, cost: number, kind: Kind): Standing | Promise<Standing> {
    const sharing = this.share.of(subject);
    const most = Math.min(sharing.quota.perMinute, sharing.quota.perDay);
    return this.memory.take(sharing, isTooExpensive(cost, subject.quota) ? cost : Math.min(cost, most), kind);
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
    this.onState('fallback', error);
  }

  private scheduleProbe(): void {
    this.retry = setTimeout(() => void this.probe(), this.retryMs).unref();
  }

  private async probe(): Promise<void> {
    try {
      await this.redis.take(PROBE, 1, 'free');
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
    this.onState('redis');
  }
}
