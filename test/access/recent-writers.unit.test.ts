import { EventEmitter } from 'node:events';
import { RecentWriters } from '../../src/access/recent-writers';
import { until } from '../helper/until';

/** A Redis that several instances share: keeps what is set, until it restarts. */
class FakeRedis extends EventEmitter {
  private readonly keys = new Set<string>();
  fails = false;

  async set(key: string): Promise<'OK'> {
    if (this.fails) throw new Error('out of reach');
    this.keys.add(key);
    return 'OK';
  }

  async exists(key: string): Promise<number> {
    if (this.fails) throw new Error('out of reach');
    return Number(this.keys.has(key));
  }

  restart(): void {
    this.keys.clear();
    this.emit('ready');
  }
}

const WINDOW_MS = 60_000;
const open = (redis?: FakeRedis) => new RecentWriters(WINDOW_MS, redis as never);
afterEach(() => jest.restoreAllMocks());

function advance(ms: number): void {
  jest.spyOn(performance, 'now').mockReturnValue(performance.now() + ms);
}

test('a write is remembered for one window', async () => {
  const writers = new RecentWriters(500);
  await writers.note('a');
  expect([await writers.has('a'), await writers.has('b')]).toEqual([true, false]);
  await until(async () => !(await writers.has('a')));
});

test('a write is known to all instances on one Redis before its response', async () => {
  const redis = new FakeRedis();
  const [one, two] = [open(redis), open(redis)];
  await one.note('a');
  expect([await two.has('a'), await two.has('b')]).toEqual([true, false]);
});

test.each<[string, (redis: FakeRedis, writers: RecentWriters) => Promise<unknown>]>([
  ['loses its data', async (redis) => redis.restart()],
  [
    'fails a read',
    async (redis, writers) => {
      redis.fails = true;
      await writers.has('b');
      redis.fails = false;
    },
  ],
  [
    'fails a write',
    async (redis, writers) => {
      redis.fails = true;
      await writers.note('b');
      redis.fails = false;
    },
  ],
])('for one window after Redis %s, every caller counts as a writer', async (_what, outage) => {
  const redis = new FakeRedis();
  const [one, two] = [open(redis), open(redis)];
  await one.note('a');
  await outage(redis, two);
  expect([await two.has('a'), await two.has('c')]).toEqual([true, true]);
  advance(WINDOW_MS + 1000);
  expect(await two.has('c')).toBe(false);
});
