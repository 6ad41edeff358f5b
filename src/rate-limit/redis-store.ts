import type { Redis } from 'ioredis';
import { inTime } from './in-time';
import { type LimitStatus, limitStatusOf, type Subject } from './limit-status';
import type { Quota } from './plans';
import { LIFT, PEEK, TAKE } from './redis-script';
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

type Reply = readonly [clock: number, ...state: number[]];

/** The scripts as ioredis commands: sent in full once per connection, then by hash. */
interface Commands {
  rateLimitTake(key: string, args: readonly number[]): Promise<Reply>;
  rateLimitPeek(key: string): Promise<Reply>;
  rateLimitLift(key: string): Promise<number>;
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
const CLOCK_TOLERANCE_MS = 50;

/** Time limit for closing the connection, in milliseconds. */
const CLOSE_MS = 1000;

/**
 * Counts in Redis, exactly across all instances that share it: one hash per caller, one command for all requests of a
 * caller in two turns of the event loop. Redis returns the state it found; the rules here derive the same outcome from
 * it as the script.
 */
export class RedisStore implements SharedStore {
  readonly state = 'redis';
  private readonly commands: Commands;
  private readonly bans: BanRules;
  private readonly now: () => number;
  private readonly prefix: string;
  private readonly timeoutMs: number;
  private clockAhead = Number.POSITIVE_INFINITY;
  /** Requests not sent yet, by caller. */
  private gathering = new Map<string, Batch>();

  /** @param redis owned by the store: `close` closes it. */
  constructor(
    private readonly redis: Redis,
    { bans, now, prefix = 'ratelimit:', timeoutMs = 200 }: RedisStoreOptions,
  ) {
    redis.defineCommand('rateLimitTake', { numberOfKeys: 1, lua: TAKE });
    redis.defineCommand('rateLimitPeek', { numberOfKeys: 1, lua: PEEK });
    redis.defineCommand('rateLimitLift', { numberOfKeys: 1, lua: LIFT });
    this.commands = redis as unknown as Commands;
    this.bans = bans;
    this.now = now;
    this.prefix = prefix;
    this.timeoutMs = timeoutMs;
  }

  take(subject: Subject, cost: number, kind: RequestKind): Promise<LimitStatus> {
    return new Promise((resolve, reject) => {
      this.batchOf(subject).requests.push({ cost, kind, resolve, reject });
    });
  }

  async peek({ id, quota }: Subject): Promise<LimitStatus> {
    const { state, now } = await this.found(this.commands.rateLimitPeek(this.prefix + id));
    return limitStatusOf(look(state, now), state, quota, 1, 'counted', now);
  }

  async liftBan(id: string): Promise<boolean> {
    return (await inTime(this.commands.rateLimitLift(this.prefix + id), this.timeoutMs)) === 1;
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

  /** Sends the commands of one turn in one write: the socket write costs more than everything else here. */
  private send(): void {
    const batches = this.gathering;
    this.gathering = new Map();
    const { stream } = this.redis;
    stream?.cork();
    for (const batch of batches.values()) void this.takeFor(batch);
    stream?.uncork();
  }

  private async takeFor({ subject: { id, quota }, requests }: Batch): Promise<void> {
    const { banAfter, banSeconds, banMaxSeconds } = this.bans;
    const args = [quota.perMinute, quota.perDay, banAfter, banSeconds * 1000, banMaxSeconds * 1000];
    for (const { cost, kind } of requests) args.push(kind === 'free' ? 0 : cost);
    try {
      const { state, now } = await this.found(this.commands.rateLimitTake(this.prefix + id, args));
      for (const { cost, kind, resolve } of requests) {
        const verdict = take(state, quota, cost, kind, this.bans, now);
        resolve(limitStatusOf(verdict, state, quota, cost, kind, now));
      }
    } catch (error) {
      for (const { reject } of requests) reject(error);
    }
  }

  /** The state that Redis found, and its time, converted to this instance's clock. */
  private async found(answer: Promise<Reply>): Promise<{ state: State; now: number }> {
    const [clock, ...fields] = await inTime(answer, this.timeoutMs);
    const ahead = this.aheadOf(clock);
    const state = newState();
    STATE_FIELDS.forEach((field, i) => {
      const value = fields[i] as number;
      state[field] = value > 0 && MOMENTS[i] ? value + ahead : value;
    });
    return { state, now: clock + ahead };
  }

  /**
   * How far this instance's clock is ahead of Redis's. Latency can only increase the observed difference, so the
   * smallest one seen is the most accurate; with it a window's end is the same in every reply, and never too early.
   */
  private aheadOf(clock: number): number {
    const seen = this.now() - clock;
    if (seen < this.clockAhead || seen > this.clockAhead + CLOCK_TOLERANCE_MS) this.clockAhead = seen;
    return this.clockAhead;
  }
}

const MOMENTS = STATE_FIELDS.map((field) => /Ends?$|Until$/.test(field));

function isSame(a: Quota, b: Quota): boolean {
  return a.perMinute === b.perMinute && a.perDay === b.perDay;
}
