import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { FallbackStore } from '../../src/rate-limit/fallback-store';
import type { LimitStatus } from '../../src/rate-limit/limit-status';
import { MemoryStore } from '../../src/rate-limit/memory-store';
import { RedisStore } from '../../src/rate-limit/redis-store';
import type { SharedStore, Store } from '../../src/rate-limit/store';
import { HAS_REDIS } from '../redis/server';
import { BANS } from './scenarios';

/** Redis for tests that need one and start none. */
export const REDIS_URLS: readonly string[] = process.env.TEST_REDIS_URL ? [process.env.TEST_REDIS_URL] : [];

type Clock = () => number;

export const memoryStore = (now: Clock = Date.now) => new MemoryStore({ bans: BANS, now });

/** Stands in for the Redis store: the test sets what it does, and sees how often it was called. */
export class RedisStub implements SharedStore {
  readonly state = 'redis';
  behaviour: 'answers' | 'rejects' | 'hangs' = 'answers';
  requests = 0;
  reconnects = 0;

  constructor(private readonly inner: Store = memoryStore()) {}

  take(...request: Parameters<Store['take']>): Promise<LimitStatus> {
    return this.behave(() => this.inner.take(...request));
  }

  peek(...request: Parameters<Store['peek']>): Promise<LimitStatus> {
    return this.behave(() => this.inner.peek(...request));
  }

  liftBan(id: string): Promise<boolean> {
    return this.behave(() => this.inner.liftBan(id));
  }

  reconnect(): void {
    this.reconnects += 1;
  }

  async close(): Promise<void> {}

  private async behave<T>(answer: () => T | Promise<T>): Promise<T> {
    this.requests += 1;
    if (this.behaviour === 'rejects') throw new Error('out of reach');
    if (this.behaviour === 'answers') return answer();
    return new Promise((_, reject) => setTimeout(reject, 30, new Error('no answer within 30 ms')));
  }
}

/** A client whose scripts read the clock from a key that `setClock` sets, and are else the real ones. */
export class ClockedRedis extends Redis {
  private readonly clockKey = `test:${randomUUID()}:clock`;

  override defineCommand(name: string, definition: { lua: string; numberOfKeys?: number }): void {
    const parts = definition.lua.split("redis.call('TIME')");
    if (parts.length !== 2) throw new Error(`${name} does not read the clock just once`);
    const clock = `redis.call('GET', '${this.clockKey}')`;
    const lua = parts.join(`{ math.floor(${clock} / 1000), ${clock} % 1000 * 1000 }`);
    super.defineCommand(name, { ...definition, lua });
  }

  async setClock(ms: number): Promise<void> {
    await this.set(this.clockKey, ms, 'EX', 600);
  }
}

/** A store whose clock the test sets. */
export interface ClockedStore {
  readonly store: Store;
  readonly now: Clock;
  advance(ms: number): Promise<void>;
}

/** @param setClock moves the clock of Redis. */
function clocked(open: (now: Clock) => Store, setClock?: (ms: number) => Promise<unknown>): ClockedStore {
  let clock = 1_800_000_000_123;
  const now = () => clock;
  const advance = async (ms: number) => {
    clock += ms;
    await setClock?.(clock);
  };
  return { store: open(now), now, advance };
}

function fallback(behaviour: RedisStub['behaviour'], share: number): ClockedStore {
  return clocked((now) => {
    const redis = Object.assign(new RedisStub(memoryStore(now)), { behaviour });
    return new FallbackStore(redis, memoryStore(now), { share });
  });
}

/** @param instances of the store, which serve its requests in turn. */
export function clockedRedis(url: string, instances: number): ClockedStore {
  const prefix = newPrefix();
  const clients = Array.from({ length: instances }, () => new ClockedRedis(url));
  const setClock = (ms: number) => Promise.all(clients.map((client) => client.setClock(ms)));
  return clocked((now) => {
    const stores = clients.map((client) => new RedisStore(client, { bans: BANS, now, prefix }));
    let next = 0;
    const store = () => stores[next++ % stores.length] as RedisStore;
    return {
      state: 'redis',
      take: (...request) => store().take(...request),
      peek: (subject) => store().peek(subject),
      liftBan: (id) => store().liftBan(id),
      close: async () => void (await Promise.all(stores.map((each) => each.close()))),
    };
  }, setClock);
}

/** Every store that this machine can run. */
export const STORES: Readonly<Record<string, (url: string) => ClockedStore>> = {
  memory: () => clocked(memoryStore),
  'fallback while Redis responds': () => fallback('answers', 0.5),
  'fallback without Redis, with all of the quota': () => fallback('rejects', 1),
  ...(HAS_REDIS && { 'Redis, by two instances in turn': (url) => clockedRedis(url, 2) }),
};

/** Keeps the keys of a test apart from others in the same Redis. */
export function newPrefix(): string {
  return `test:${randomUUID()}:`;
}
