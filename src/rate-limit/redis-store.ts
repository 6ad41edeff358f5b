import { inTime } from '../database/in-time';
import { callerKey, cork, type RedisClient, uncork } from '../redis/redis-client';
import { type LimitStatus, limitStatusOf, type Subject } from './limit-status';
import type { Quota } from './plans';
import { defineScripts, FREE_COSTS } from './redis-script';
import { type BanRules, look, type RequestKind, take } from './rules';
import { newState, STATE_FIELDS, type State } from './state';
import type { SharedStore } from './store';

export interface RedisStoreOptions {
  readonly bans: BanRules;
  /** This instance's clock, in milliseconds of the Unix epoch, in which times are reported. Counting uses Redis's clock. */
  readonly now: () => number;
  readonly prefix?: string;
  /** Time limit for a reply of Redis, in milliseconds. */
  readonly timeoutMs?: number;
}

/** Requests of one caller that are sent together. */
interface Batch {
  readonly subject: Subject;
  readonly requests: {
    readonly cost: number;
    readonly kind: RequestKind;
    readonly resolve: (status: LimitStatus) => void;
    readonly reject: (error: unknown) => void;
  }[];
}

/** How far a reply's clock difference may exceed the smallest one seen before a clock is assumed to have been changed. */
const TOLERANCE_MS = 50;
/** Time limit for closing the connection, in milliseconds. */
const CLOSE_MS = 1000;

/**
 * Counts in Redis, exactly across all instances that share it: one hash per caller, one command for all requests of a
 * caller in two turns of the event loop. Redis returns the state it found; the rules here derive the same outcome from
 * it as the script.
 */
export class RedisStore implements SharedStore {
  readonly state = 'redis';
  private readonly options: Required<RedisStoreOptions>;
  /** How far this instance's clock is ahead of Redis's, in milliseconds. */
  private ahead = Number.POSITIVE_INFINITY;
  /** Requests not sent yet, by caller. */
  private gathering = new Map<string, Batch>();

  /** @param redis owned by the store: `close` closes it. */
  constructor(
    private readonly redis: RedisClient,
    options: RedisStoreOptions,
  ) {
    defineScripts(redis);
    this.options = { prefix: 'ratelimit:', timeoutMs: 200, ...options };
  }

  take(subject: Subject, cost: number, kind: RequestKind): Promise<LimitStatus> {
    return new Promise((resolve, reject) => {
      this.batchOf(subject).requests.push({ cost, kind, resolve, reject });
    });
  }

  async peek({ id, quota }: Subject): Promise<LimitStatus> {
    const { state, now } = await this.found(this.redis.rateLimitPeek(this.keyOf(id)));
    return limitStatusOf(look(state, now), state, quota, 1, 'counted', now);
  }

  async liftBan(id: string): Promise<boolean> {
    return (await inTime(this.redis.rateLimitLift(this.keyOf(id)), this.options.timeoutMs)) === 1;
  }

  /** A connection still being established has its own timeout. */
  reconnect(): void {
    if (this.redis.status === 'ready' || this.redis.status === 'connect') this.redis.disconnect(true);
  }

  async close(): Promise<void> {
    await inTime(this.redis.quit(), CLOSE_MS).catch(() => this.redis.disconnect());
  }

  private batchOf(subject: Subject): Batch {
    const { id, quota } = subject;
    // Reading the sockets once more first nearly halves the commands when clients send as soon as they get a response.
    if (this.gathering.size === 0) setImmediate(() => setImmediate(() => this.send()));
    const known = this.gathering.get(id);
    if (known && isSame(known.subject.quota, quota)) return known;
    const batch: Batch = { subject, requests: [] };
    // After a change of quota a new batch is started.
    if (known) void this.takeFor(known);
    this.gathering.set(id, batch);
    return batch;
  }

  /** Sends the commands of one turn together. */
  private send(): void {
    const batches = this.gathering;
    this.gathering = new Map();
    cork(this.redis);
    for (const batch of batches.values()) void this.takeFor(batch);
    uncork(this.redis);
  }

  private keyOf(id: string): string {
    return callerKey(this.redis, this.options.prefix, id);
  }

  private async takeFor({ subject: { id, quota }, requests }: Batch): Promise<void> {
    const { bans } = this.options;
    const { banAfter, banSeconds, banMaxSeconds } = bans;
    const args = [quota.perMinute, quota.perDay, banAfter, banSeconds * 1000, banMaxSeconds * 1000];
    for (const { cost, kind } of requests) args.push(kind === 'counted' ? cost : FREE_COSTS[kind]);
    try {
      const { state, now } = await this.found(this.redis.rateLimitTake(this.keyOf(id), ...args));
      for (const { cost, kind, resolve } of requests) {
        const verdict = take(state, quota, cost, kind, bans, now);
        resolve(limitStatusOf(verdict, state, quota, cost, kind, now));
      }
    } catch (error) {
      for (const { reject } of requests) reject(error);
    }
  }

  /** The state that Redis found, and its time, converted to this instance's clock. */
  private async found(reply: Promise<number[]>): Promise<{ state: State; now: number }> {
    const [clock = 0, ...fields] = await inTime(reply, this.options.timeoutMs);
    const ahead = this.compare(clock);
    const state = newState();
    STATE_FIELDS.forEach((field, i) => {
      const value = fields[i] ?? 0;
      state[field] = value > 0 && IS_TIME[i] ? value + ahead : value;
    });
    return { state, now: clock + ahead };
  }

  /**
   * How far this instance's clock is ahead. Latency can only increase the observed difference, so the smallest one seen is
   * the most accurate; with it a window's end is the same in every reply, and never too early.
   * @param clock Redis's clock in the reply that has just arrived.
   */
  private compare(clock: number): number {
    const seen = this.options.now() - clock;
    if (seen < this.ahead || seen > this.ahead + TOLERANCE_MS) this.ahead = seen;
    return this.ahead;
  }
}

const IS_TIME = STATE_FIELDS.map((field) => /Ends?$|Until$/.test(field));

function isSame(a: Quota, b: Quota): boolean {
  return a.perMinute === b.perMinute && a.perDay === b.perDay;
}
