import { EventEmitter } from 'node:events';
import { RecentWriters } from '../../src/access/recent-writers';
import { until } from '../helper/until';

/** A Redis that several instances share: what is set, until it forgets. */
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

test('a write is known here for one window', async () => {
  const writers = new RecentWriters(500);
  await writers.note('a');
  expect([await writers.has('a'), await writers.has('b')]).toEqual([true, false]);
  await until(async () => !(await writers.has('a')));
});

test('a write is known to all instances of a Redis before it is answered', async () => {
  const redis = new FakeRedis();
  const [one, two] = [open(redis), open(redis)];
  await one.note('a');
  expect([await two.has('a'), await two.has('b')]).toEqual([true, false]);
});

test.each<[string, (redis: FakeRedis, writers: RecentWriters) => Promise<unknown>]>([
  ['has lost what it knew', async (redis) => redis.restart()],
  [
    'did not answer a question',
    async (redis, writers) => {
      redis.fails = true;
      await writers.has('b');
      redis.fails = false;
    },
  ],
  [
    'did not take a note',
    async (redis, writers) => {
      redis.fails = true;
      await writers.note('b');
      redis.fails = false;
    },
  ],
])('for one window after Redis %s, every caller may have written', async (_what, outage) => {
  const redis = new FakeRedis();
  const [one, two] = [open(redis), open(redis)];
  await one.note('a');
  await outage(redis, two);
  expect([await two.has('a'), await two.has('c')]).toEqual([true, true]);
  advance(WINDOW_MS + 1000);
  expect(await two.has('c')).toBe(false);
});
