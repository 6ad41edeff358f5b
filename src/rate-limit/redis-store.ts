import type { Redis } from 'ioredis';
import { inTime } from './in-time';
import type { Quota } from './plans';
import { LIFT, PEEK, TAKE } from './redis-script';
import { type BanRules, type Kind, look, take } from './rules';
import { type Standing, type Subject, standingOf } from './standing';
import { newState, STATE_FIELDS, type State } from './state';
import type { SharedStore } from './store';

export interface RedisStoreOptions {
  readonly bans: BanRules;
  /** This instance's clock, milliseconds of the Unix epoch: moments are told in it. Counting goes by the clock of Redis. */
  readonly now: () => number;
  readonly prefix?: string;
  /** How long Redis may take. */
  readonly timeoutMs?: number;
}

type Reply = readonly [clock: number, ...state: number[]];

/** The scripts, as ioredis adds them to a client: sent whole once per connection, then by their hash. */
interface Commands {
  rateLimitTake(key: string, args: readonly number[]): Promise<Reply>;
  rateLimitPeek(key: string): Promise<Reply>;
  rateLimitLift(key: string): Promise<number>;
}

/** The requests of one caller that are taken for at once. */
interface Batch {
  readonly subject: Subject;
  readonly requests: {
    readonly cost: number;
    readonly kind: Kind;
    readonly resolve: (standing: Standing) => void;
    readonly reject: (error: unknown) => void;
  }[];
}

/** How far one answer's clock difference may be above the least seen before the clocks are thought to have moved. */
const CLOCK_TOLERANCE_MS = 50;

/** How long Redis may take to say goodbye. */
const CLOSE_MS = 1000;

/**
 * Counts in Redis, exactly for all instances that share it: one hash per caller, one command for all requests of a caller in
 * two turns of the event loop. Redis tells what it found; what that comes to is the same by the rules here as by its script.
 */
export class RedisStore implements SharedStore {
  readonly state = 'redis';
  private readonly commands: Commands;
  private readonly bans: BanRules;
  private readonly now: () => number;
  private readonly prefix: string;
  private readonly timeoutMs: number;
  private clockAhead = Number.POSITIVE_INFINITY;
  /** What is asked for and not sent yet, by caller. */
  private gathering = new Map<string, Batch>();

  /** @param redis is given over: `close` closes it. */
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

  take(subject: Subject, cost: number, kind: Kind): Promise<Standing> {
    return new Promise((resolve, reject) => {
      this.batchOf(subject).requests.push({ cost, kind, resolve, reject });
    });
  }

  async peek({ id, quota }: Subject): Promise<Standing> {
    const { state, now } = await this.found(this.commands.rateLimitPeek(this.prefix + id));
    return standingOf(look(state, now), state, quota, 1, 'counted', now);
  }

  async liftBan(id: string): Promise<boolean> {
    return (await inTime(this.commands.rateLimitLift(this.prefix + id), this.timeoutMs)) === 1;
  }

  /** One that is still being made is left to its own time-out. */
  reconnect(): void {
    if (this.redis.status === 'ready' || this.redis.status === 'connect') this.redis.disconnect(true);
  }

  async close(): Promise<void> {
    await inTime(this.redis.quit(), CLOSE_MS).catch(() => this.redis.disconnect());
  }

  private batchOf(subject: Subject): Batch {
    const { id, quota } = subject;
    // One more look at the sockets first: where callers answer answers, it nearly halves the commands.
    if (this.gathering.size === 0) setImmediate(() => setImmediate(() => this.send()));
    const known = this.gathering.get(id);
    if (known && isSame(known.subject.quota, quota)) return known;
    const batch: Batch = { subject, requests: [] };
    // One whose quota has just been changed starts anew.
    if (known) void this.takeFor(known);
    this.gathering.set(id, batch);
    return batch;
  }

  /** Commands of one turn leave together: to write to a socket costs more than all else here. */
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
        resolve(standingOf(verdict, state, quota, cost, kind, now));
      }
    } catch (error) {
      for (const { reject } of requests) reject(error);
    }
  }

  /** The state that Redis found, and the moment, by this instance's clock. */
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
   * By how much this instance's clock is ahead of that of Redis. An answer's way makes it look more, never less, so the
   * least that was seen is nearest: a window's end then stays the same from answer to answer, and is never told too early.
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
