import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { MemoryStore } from '../../../src/rate-limit/memory-store';
import { RedisStore } from '../../../src/rate-limit/redis-store';
import type { Store } from '../../../src/rate-limit/store';
import { BANS } from '../scenarios';
import { ClockedRedis } from './clocked-redis';

/** A store whose clock the test sets. */
export interface ClockedStore {
  readonly store: Store;
  readonly now: () => number;
  advance(ms: number): Promise<void>;
  close(): Promise<void>;
}

const START = 1_800_000_000_123;

async function clockedMemory(): Promise<ClockedStore> {
  let clock = START;
  const now = () => clock;
  const advance = async (ms: number) => {
    clock += ms;
  };
  const store = new MemoryStore({ bans: BANS, now });
  return { store, now, advance, close: () => store.close() };
}

async function clockedRedis(url: string): Promise<ClockedStore> {
  const redis = new ClockedRedis(url);
  let clock = START;
  const now = () => clock;
  const advance = async (ms: number) => {
    clock += ms;
    await redis.setClock(clock);
  };
  await advance(0);
  const prefix = newPrefix();
  const store = new RedisStore(redis, { bans: BANS, now, prefix });
  return { store, now, advance, close: () => closeAll([store], url, prefix) };
}

/** Redis is tested if TEST_REDIS_URL is set. */
export const REDIS_URLS: readonly string[] = process.env.TEST_REDIS_URL ? [process.env.TEST_REDIS_URL] : [];

/** The stores that can be tested on this machine, under a clock set by the test. */
export const CLOCKED_STORES: readonly { name: string; open: () => Promise<ClockedStore> }[] = [
  { name: 'memory', open: clockedMemory },
  ...REDIS_URLS.map((url) => ({ name: 'redis', open: () => clockedRedis(url) })),
];

/** The same under the system clock; `instances` of them share their counts, if the store supports it. */
export const STORES: readonly { name: string; instances: number; open: () => OpenStores }[] = [
  { name: 'memory', instances: 1, open: memoryStores },
  ...REDIS_URLS.flatMap((url) =>
    [1, 2].map((instances) => ({ name: 'redis', instances, open: () => redisStores(url, instances) })),
  ),
];

interface OpenStores {
  readonly stores: readonly Store[];
  close(): Promise<void>;
}

function memoryStores(): OpenStores {
  const store = new MemoryStore({ bans: BANS, now: Date.now });
  return { stores: [store], close: () => store.close() };
}

function redisStores(url: string, instances: number): OpenStores {
  const prefix = newPrefix();
  const options = { bans: BANS, now: Date.now, prefix };
  const stores = Array.from({ length: instances }, () => new RedisStore(new Redis(url), options));
  return { stores, close: () => closeAll(stores, url, prefix) };
}

export function newPrefix(): string {
  return `test:${randomUUID()}:`;
}

/** Closes a test's stores and deletes what they left in Redis. */
export async function closeAll(stores: readonly Store[], url: string, prefix: string): Promise<void> {
  await Promise.all(stores.map((store) => store.close()));
  const redis = new Redis(url);
  for await (const keys of redis.scanStream({ match: `${prefix}*`, count: 1000 })) {
    if (keys.length > 0) await redis.del(keys);
  }
  await redis.quit();
}
