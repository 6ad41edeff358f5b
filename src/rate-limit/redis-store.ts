import type { Redis } from 'ioredis';
import { inTime } from './in-time';
import { LIFT, PEEK, TAKE } from './redis-script';
import { type BanRules, type Kind, look, type Verdict } from './rules';
import { type Standing, type Subject, standingOf } from './standing';
import { newState, STATE_FIELDS, type State } from './state';
import type { SharedStore } from './store';

export interface RedisStoreOptions {
  readonly bans: BanRules;
  /** This instance's clock, milliseconds of the Unix epoch: moments are told in it. Counting goes by the clock of Redis. */
  readonly now: () => number;
  readonly prefix?: string;
}

/** The scripts, as ioredis adds them to a client: sent whole once per connection, then by their hash. */
interface Commands {
  rateLimitTake(
    key: string,
    ...args: (string | number)[]
  ): Promise<[verdict: Verdict, clock: number, ...state: number[]]>;
  rateLimitPeek(key: string): Promise<[clock: number, ...state: number[]]>;
  rateLimitLift(key: string): Promise<number>;
}

/** How far one answer's clock difference may be above the least seen before the clocks are thought to have moved. */
const CLOCK_TOLERANCE_MS = 50;

/** How long Redis may take to say goodbye. */
const CLOSE_MS = 1000;

/** Counts in Redis, exactly for all instances that share it: one round trip per operation, one hash per caller. */
export class RedisStore implements SharedStore {
  readonly state = 'redis';
  private readonly commands: Commands;
  private readonly bans: BanRules;
  private readonly now: () => number;
  private readonly prefix: string;
  private clockAhead = Number.POSITIVE_INFINITY;
  private isGathering = false;

  /** @param redis is given over: `close` closes it. */
  constructor(
    private readonly redis: Redis,
    { bans, now, prefix = 'ratelimit:' }: RedisStoreOptions,
  ) {
    redis.defineCommand('rateLimitTake', { numberOfKeys: 1, lua: TAKE });
    redis.defineCommand('rateLimitPeek', { numberOfKeys: 1, lua: PEEK });
    redis.defineCommand('rateLimitLift', { numberOfKeys: 1, lua: LIFT });
    this.commands = redis as unknown as Commands;
    this.bans = bans;
    this.now = now;
    this.prefix = prefix;
  }

  async take({ id, quota }: Subject, cost: number, kind: Kind): Promise<Standing> {
    const { banAfter, banSeconds, banMaxSeconds } = this.bans;
    this.gather();
    const reply = await this.commands.rateLimitTake(
      this.prefix + id,
      quota.perMinute,
      quota.perDay,
      cost,
      kind,
      banAfter,
      banSeconds * 1000,
      banMaxSeconds * 1000,
    );
    const [verdict, clock] = reply;
    const ahead = this.aheadOf(clock);
    return standingOf(verdict, stateOf(reply, 2, ahead), quota, cost, kind, clock + ahead);
  }

  async peek({ id, quota }: Subject): Promise<Standing> {
    const reply = await this.commands.rateLimitPeek(this.prefix + id);
    const [clock] = reply;
    const ahead = this.aheadOf(clock);
    const state = stateOf(reply, 1, ahead);
    return standingOf(look(state, clock + ahead), state, quota, 1, 'counted', clock + ahead);
  }

  async liftBan(id: string): Promise<boolean> {
    return (await this.commands.rateLimitLift(this.prefix + id)) === 1;
  }

  /** One that is still being made is left to its own time-out. */
  reconnect(): void {
    if (this.redis.status === 'ready' || this.redis.status === 'connect') this.redis.disconnect(true);
  }

  async close(): Promise<void> {
    await inTime(this.redis.quit(), CLOSE_MS).catch(() => this.redis.disconnect());
  }

  /** Lets the commands of one turn of the event loop leave together: to write to a socket costs more than all else here. */
  private gather(): void {
    const { stream } = this.redis;
    if (this.isGathering || !stream) return;
    this.isGathering = true;
    stream.cork();
    setImmediate(() => {
      this.isGathering = false;
      stream.uncork();
    });
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

/** The state that stands `at` a place of a reply of Redis, its moments by this instance's clock. */
function stateOf(reply: readonly unknown[], at: number, ahead: number): State {
  const state = newState();
  STATE_FIELDS.forEach((field, i) => {
    const value = reply[at + i] as number;
    state[field] = value > 0 && MOMENTS[i] ? value + ahead : value;
  });
  return state;
}
