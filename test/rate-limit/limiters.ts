import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import type { LimitStatus } from '../../src/rate-limit/limit-status';
import { Limiter, type LimiterOptions } from '../../src/rate-limit/limiter';
import { MemoryStore } from '../../src/rate-limit/memory-store';
import { RedisStore } from '../../src/rate-limit/redis-store';
import { HAS_REDIS } from '../redis/server';
import { BANS } from './scenarios';

/** The URL in TEST_REDIS_URL, for tests that do not start a Redis server; empty if the variable is not set. */
export const REDIS_URLS: readonly string[] = process.env.TEST_REDIS_URL ? [process.env.TEST_REDIS_URL] : [];

type Clock = () => number;

type SharedStore = NonNullable<LimiterOptions['redis']>;

/** Replaces the Redis store. A test sets its behaviour and reads the number of calls. */
export class RedisStub implements SharedStore {
  behaviour: 'answers' | 'rejects' | 'hangs' = 'answers';
  requests = 0;
  private readonly inner: MemoryStore;

  constructor(now: Clock = Date.now) {
    this.inner = new MemoryStore({ bans: BANS, now });
  }

  take(...request: Parameters<MemoryStore['take']>): Promise<LimitStatus> {
    return this.behave(() => this.inner.take(...request));
  }

  peek(...request: Parameters<MemoryStore['peek']>): Promise<LimitStatus> {
    return this.behave(() => this.inner.peek(...request));
  }

  liftBan(id: string): Promise<boolean> {
    return this.behave(() => this.inner.liftBan(id));
  }

  probe(): Promise<void> {
    return this.behave(() => undefined);
  }

  async close(): Promise<void> {}

  private async behave<T>(answer: () => T): Promise<T> {
    this.requests += 1;
    if (this.behaviour === 'rejects') throw new Error('out of reach');
    if (this.behaviour === 'answers') return answer();
    return new Promise((_, reject) => setTimeout(reject, 30, new Error('no response within 30 ms')));
  }
}

/** How long Redis keeps the keys of a test, in seconds. */
const KEPT_SECONDS = 600;

/**
 * A Redis client that runs the real scripts, but with the time that `setClock` sets. Redis itself expires keys by the real
 * clock, so the keys are kept longer: a window that ends 1 ms later must not end before the test sets the clock.
 */
export class ClockedRedis extends Redis {
  private readonly clockKey = `test:${randomUUID()}:clock`;

  override defineCommand(name: string, definition: { lua: string; numberOfKeys?: number }): void {
    const clock = `redis.call('GET', '${this.clockKey}')`;
    let { lua } = definition;
    for (const [call, replacement] of [
      ["redis.call('TIME')", `{ math.floor(${clock} / 1000), ${clock} % 1000 * 1000 }`],
      ["redis.call('PEXPIRE', key, last - now)", `redis.call('EXPIRE', key, ${KEPT_SECONDS})`],
    ] as const) {
      const parts = lua.split(call);
      if (parts.length !== 2) throw new Error(`${name} does not contain ${call} just once`);
      lua = parts.join(replacement);
    }
    super.defineCommand(name, { ...definition, lua });
  }

  async setClock(ms: number): Promise<void> {
    await this.set(this.clockKey, ms, 'EX', KEPT_SECONDS);
  }
}

type Counter = Pick<Limiter, 'take' | 'peek' | 'liftBan' | 'close'>;

/** A limiter with a clock that the test controls. */
export interface ClockedLimiter {
  readonly limiter: Counter;
  readonly now: Clock;
  advance(ms: number): Promise<void>;
}

/** @param setClock sets the clock of Redis, in Unix ms. */
function clocked(open: (now: Clock) => Counter, setClock?: (ms: number) => Promise<unknown>): ClockedLimiter {
  let clock = 1_800_000_000_123;
  const now = () => clock;
  const advance = async (ms: number) => {
    clock += ms;
    await setClock?.(clock);
  };
  return { limiter: open(now), now, advance };
}

function stubbed(behaviour: RedisStub['behaviour'], fallbackFraction: number): ClockedLimiter {
  return clocked((now) => {
    const redis = Object.assign(new RedisStub(now), { behaviour });
    return new Limiter({ bans: BANS, now, redis, fallbackFraction });
  });
}

export const inMemory = () => clocked((now) => new Limiter({ bans: BANS, now }));

/** @param instances the number of limiters that share this Redis and serve requests in turn. */
export function inRedis(url: string, instances: number): ClockedLimiter {
  const prefix = newPrefix();
  const clients = Array.from({ length: instances }, () => new ClockedRedis(url));
  const setClock = (ms: number) => Promise.all(clients.map((client) => client.setClock(ms)));
  return clocked((now) => {
    const limiters = clients.map((client) => {
      // The timeout is long enough even for a busy machine.
      const redis = new RedisStore(client, { bans: BANS, now, prefix, timeoutMs: 10_000 });
      return new Limiter({ bans: BANS, now, redis });
    });
    let next = 0;
    const limiter = () => limiters[next++ % limiters.length] as Limiter;
    return {
      take: (...request) => limiter().take(...request),
      peek: (subject) => limiter().peek(subject),
      liftBan: (id) => limiter().liftBan(id),
      close: async () => void (await Promise.all(limiters.map((each) => each.close()))),
    };
  }, setClock);
}

/** A limiter for each store that is available on this machine. */
export const LIMITERS: Readonly<Record<string, (url: string) => ClockedLimiter>> = {
  'in memory': inMemory,
  'in a stub of Redis': () => stubbed('answers', 0.5),
  'in memory while Redis is unreachable, with the full quota': () => stubbed('rejects', 1),
  ...(HAS_REDIS && { 'in Redis, by two instances in turn': (url) => inRedis(url, 2) }),
};

/** @returns a unique key prefix, so that tests can share one Redis. */
export function newPrefix(): string {
  return `test:${randomUUID()}:`;
}
