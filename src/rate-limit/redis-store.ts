import { withTimeout } from '../database/timeout';
import { callerKey, cork, type RedisClient, uncork } from '../redis/redis-client';
import { type LimitStatus, limitStatusOf, type Subject } from './limit-status';
import { PLANS, type Quota } from './plans';
import { CODES, defineScript, REPORTED, VERDICTS } from './redis-script';
import { type BanRules, newState, type RequestKind, type State } from './rules';

interface RedisStoreOptions {
  readonly bans: BanRules;
  /** The clock for reported times, in milliseconds since the Unix epoch. Counting uses the clock of Redis. */
  readonly now: () => number;
  readonly prefix?: string;
  /** Time limit for a reply of Redis, in milliseconds. */
  readonly timeoutMs?: number;
}

/** A caller, and the caller in whose windows its requests are counted, if that is a different caller. */
type Counted = Pick<Subject, 'id' | 'windowsOf'>;

/** A request that is not sent yet. */
interface Waiting {
  readonly caller: Counted;
  readonly quota: Quota;
  readonly requests: number;
  readonly kind: RequestKind;
  /** The number of requests, or one of {@link CODES}. */
  readonly code: number;
  readonly resolve: (status: LimitStatus) => void;
  readonly reject: (error: unknown) => void;
}

/** Time limit for closing the connection, in milliseconds. */
const CLOSE_MS = 1000;

/**
 * Counts requests in Redis, with one hash per caller. The counts are exact across all instances. All requests of a caller
 * within two iterations of the event loop are sent as one command. A request fails if Redis does not reply within the time
 * limit.
 */
export class RedisStore {
  private readonly options: Required<RedisStoreOptions>;
  /** Requests not sent yet, by caller. */
  private waiting = new Map<string, Waiting[]>();

  /** @param redis the client, which `close` closes. */
  constructor(
    private readonly redis: RedisClient,
    options: RedisStoreOptions,
  ) {
    defineScript(redis);
    this.options = { prefix: 'ratelimit:', timeoutMs: 200, ...options };
  }

  take(subject: Subject, requests: number, kind: RequestKind): Promise<LimitStatus> {
    return this.ask(subject, subject.quota, requests, kind, kind === 'counted' ? requests : CODES[kind]);
  }

  peek(subject: Subject): Promise<LimitStatus> {
    return this.ask(subject, subject.quota, 1, 'counted', CODES.peek);
  }

  async liftBan(id: string, windowsOf?: string): Promise<boolean> {
    const { verdict } = await this.ask({ id, windowsOf }, PLANS.FREE, 1, 'counted', CODES.lift);
    return verdict === 'banned';
  }

  /**
   * Tests Redis by running the script, since a Redis that answers PING may still reject writes. The probe uses a separate
   * key, which is in the same cluster slot as the caller's key. Reconnects if there is no reply, since the connection may be
   * half-open.
   */
  async probe(id: string): Promise<void> {
    const args = [...this.banArgs(), PLANS.FREE.perMinute, PLANS.FREE.perDay, CODES.free];
    let isSilent = true;
    const key = callerKey(this.redis, `${this.options.prefix}probe:`, id);
    const reply = this.redis.rateLimit(key, ...args).finally(() => {
      isSilent = false;
    });
    await withTimeout(reply, this.options.timeoutMs).catch((error) => {
      if (isSilent) this.redis.disconnect(true);
      throw error;
    });
  }

  async close(): Promise<void> {
    await withTimeout(this.redis.quit(), CLOSE_MS).catch(() => this.redis.disconnect());
  }

  private ask(caller: Counted, quota: Quota, requests: number, kind: RequestKind, code: number): Promise<LimitStatus> {
    return new Promise((resolve, reject) => {
      // The second `setImmediate` lets Node read the sockets once more before the commands are sent. This nearly halves the
      // number of commands for clients that send a request as soon as they get a response.
      if (this.waiting.size === 0) setImmediate(() => setImmediate(() => this.sendAll()));
      const request = { caller, quota, requests, kind, code, resolve, reject };
      const others = this.waiting.get(caller.id);
      if (others) others.push(request);
      else this.waiting.set(caller.id, [request]);
    });
  }

  private sendAll(): void {
    const { waiting } = this;
    this.waiting = new Map();
    cork(this.redis);
    for (const all of waiting.values()) void this.send(all);
    uncork(this.redis);
  }

  private async send(all: readonly Waiting[]): Promise<void> {
    const { timeoutMs, now } = this.options;
    const args = this.banArgs();
    for (const { quota, code } of all) args.push(quota.perMinute, quota.perDay, code);
    try {
      const reply = await withTimeout(this.run(all[0]?.caller as Counted, args), timeoutMs);
      const arrivedAt = now();
      for (const [i, request] of all.entries()) request.resolve(statusIn(reply, i, request, arrivedAt));
    } catch (error) {
      for (const { reject } of all) reject(error);
    }
  }

  private run({ id, windowsOf }: Counted, args: readonly number[]): Promise<number[]> {
    const { redis } = this;
    const { prefix } = this.options;
    if (windowsOf === undefined) return redis.rateLimit(callerKey(redis, prefix, id), ...args);
    // Both keys are in one slot of a cluster.
    const windows = callerKey(redis, prefix, windowsOf);
    return redis.rateLimitShared(`${windows}:${id}`, windows, ...args);
  }

  private banArgs(): number[] {
    const { banAfter, banSeconds, banMaxSeconds } = this.options.bans;
    return [banAfter, banSeconds * 1000, banMaxSeconds * 1000];
  }
}

/** The status after a request. The reply contains the verdict and the {@link REPORTED} fields for each request. */
function statusIn(
  reply: readonly number[],
  index: number,
  { quota, requests, kind }: Waiting,
  now: number,
): LimitStatus {
  const at = index * (1 + REPORTED.length);
  const state = newState();
  for (let i = 0; i < REPORTED.length; i++) {
    const value = reply[at + 1 + i] ?? 0;
    state[REPORTED[i] as keyof State] = value > 0 && IS_TIME[i] ? value + now : value;
  }
  return limitStatusOf(VERDICTS[reply[at] ?? -1] ?? 'limited', state, quota, requests, kind, now);
}

const IS_TIME = REPORTED.map((field) => !field.endsWith('Used'));
