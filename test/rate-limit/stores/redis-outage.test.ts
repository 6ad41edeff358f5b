import { setTimeout as sleep } from 'node:timers/promises';
import { FallbackStore } from '../../../src/rate-limit/fallback-store';
import { MemoryStore } from '../../../src/rate-limit/memory-store';
import { PLANS } from '../../../src/rate-limit/plans';
import { RedisStore } from '../../../src/rate-limit/redis-store';
import { connectRedis, faultOf } from '../../../src/redis/redis-client';
import { REDIS_BINARY, RedisServer } from '../../helper/redis-server';
import { BANS } from '../scenarios';

const subject = { id: 'caller', quota: PLANS.FREE };

async function open(url: string, changes: string[]): Promise<FallbackStore> {
  const redis = new RedisStore(await connectRedis(url), { bans: BANS, now: Date.now });
  const memory = new MemoryStore({ bans: BANS, now: Date.now });
  return new FallbackStore(redis, memory, { retryMs: 100, onState: (state) => changes.push(state) });
}

test('without Redis at the start, requests are still answered, and closing ends', async () => {
  const changes: string[] = [];
  const store = await open('redis://127.0.0.1:1', changes);
  expect((await store.take(subject, 1, 'counted')).windows[0].limit).toBe(30);
  expect(changes).toEqual(['fallback']);
  await store.close();
});

if (REDIS_BINARY) {
  describe('a Redis that really goes away,', () => {
    let server: RedisServer;
    let store: FallbackStore;
    let changes: string[];
    beforeEach(async () => {
      server = await RedisServer.start(REDIS_BINARY as string);
      changes = [];
      store = await open(server.url, changes);
    });
    afterEach(async () => {
      await store.close();
      await server.remove();
    });

    const take = async () => store.take(subject, 1, 'counted');
    const until = async (state: string) => {
      while (store.state !== state) await sleep(20);
    };

    test('killed during requests, fails none of them, and is used again once it is back', async () => {
      expect((await take()).windows[0].limit).toBe(60);
      const underWay = Array.from({ length: 20 }, take);
      await server.kill();
      const statuses = await Promise.all([...underWay, take(), take()]);
      expect(statuses.filter(({ verdict }) => verdict !== 'allowed')).toEqual([]);
      expect(statuses.at(-1)?.windows[0].limit).toBe(30);
      await server.start();
      await until('redis');
      expect((await take()).windows[0]).toMatchObject({ limit: 60, remaining: 59 });
      expect(changes).toEqual(['fallback', 'redis']);
    });

    test('reports why there is no connection to it, as long as there is none', async () => {
      const redis = await connectRedis(server.url);
      const reason = () => faultOf(redis)?.message;
      expect(reason()).toBeUndefined();
      await server.kill();
      while (redis.status === 'ready') await sleep(5);
      expect(reason()).toMatch(/^(the connection was closed$|read ECONNRESET$|connect ECONNREFUSED)/);
      const { port } = new URL(server.url);
      while (reason() !== `connect ECONNREFUSED 127.0.0.1:${port}`) await sleep(5);
      await server.start();
      while (reason()) await sleep(5);
      expect(redis.status).toBe('ready');
      redis.disconnect();
    });

    test('frozen, costs the first requests no more than the timeout and later ones nothing', async () => {
      await take();
      server.freeze();
      const start = performance.now();
      await Promise.all(Array.from({ length: 10 }, take));
      expect(performance.now() - start).toBeLessThan(1000);
      expect(store.state).toBe('fallback');
      expect(store.take(subject, 1, 'counted')).not.toBeInstanceOf(Promise);
      server.thaw();
      await until('redis');
      expect(changes).toEqual(['fallback', 'redis']);
    });

    test('frozen for so long that its connection is given up, is still used again', async () => {
      await take();
      server.freeze();
      await take();
      await sleep(2500);
      server.thaw();
      await until('redis');
      expect((await take()).windows[0].limit).toBe(60);
    });
  });
}
