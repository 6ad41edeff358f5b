import { UsageCounts } from '../../src/access/usage';
import { UsageRecorder } from '../../src/access/usage-recorder';
import type { Database, Session, Statement } from '../../src/database/database';
import type { Work } from '../../src/database/deadline';
import { createDatabase } from '../helper/database';
import { until } from '../helper/until';

let database: Database;
let drop: () => Promise<void>;
beforeAll(async () => {
  ({ database, drop } = await createDatabase());
});
beforeEach(() => {
  now = Date.parse('2026-11-23T12:00:00Z');
  states = [];
});
afterAll(() => drop());

let now: number;
let states: string[];

/** What happens to the next writes: they fail, or succeed without an answer. */
type Fault = 'fails' | 'is done, but not confirmed';
let faults: Fault[] = [];

/** The database, over a connection that breaks. */
function breaking(): Database {
  const sessionFor = (work: Work): Session => {
    const session = database.sessionFor(work);
    const write = async <Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]> => {
      const fault = faults.shift();
      if (fault === 'fails') throw new Error('connection refused');
      const rows = await session.write<Row>(statement, values);
      if (fault) throw new Error('connection lost');
      return rows;
    };
    return Object.assign(Object.create(session), { write });
  };
  return Object.assign(Object.create(database), { sessionFor, query: database.query.bind(database) });
}

function record(every = 3_600_000): UsageRecorder {
  const onState = (error: unknown) => states.push(error === undefined ? 'saved again' : 'failed');
  return new UsageRecorder(breaking(), { now: () => now, every, onState });
}

/** The requests of a caller, as another process reads them. */
async function saved(caller: string): Promise<number> {
  const reader = record();
  const rows = await reader.read(database, [caller], Math.floor(now / 86_400_000) - 10);
  await reader.stop();
  return rows.reduce((sum, { requests }) => sum + requests, 0);
}

test.each<Fault>(['fails', 'is done, but not confirmed'])(
  'a save that %s is sent again, and counted once',
  async (fault) => {
    const recorder = record();
    recorder.counts.add(fault, 5, 1, 0);
    expect(recorder.unsavedMs).toBe(0);
    faults = [fault, fault];
    for (let i = 0; i < 2; i++) {
      await recorder.flush();
      now += 5000;
    }
    expect(recorder.unsavedMs).toBe(10_000);
    for (const [more, sum] of [
      [0, 5],
      [2, 7],
      [0, 7],
    ] as const) {
      if (more) recorder.counts.add(fault, more, 0, 0);
      await recorder.flush();
      expect(await saved(fault)).toBe(sum);
    }
    expect(recorder.unsavedMs).toBe(0);
    expect(states).toEqual(['failed', 'saved again']);
    await recorder.stop();
  },
);

test('a save that fails at the end does not keep the process from ending', async () => {
  const recorder = record();
  recorder.counts.add('lost', 5, 0, 0);
  faults = ['fails'];
  await recorder.stop();
  expect(await saved('lost')).toBe(0);
});

test('usage is saved periodically, and when the recorder stops', async () => {
  const recorder = record(20);
  recorder.counts.add('periodic', 3, 0, 0);
  await until(async () => (await saved('periodic')) === 3);
  recorder.counts.add('periodic', 1, 0, 0);
  await recorder.stop();
  expect(await saved('periodic')).toBe(4);
});

test('processes that save the same keys at once neither deadlock nor lose a request', async () => {
  const recorders = Array.from({ length: 6 }, () => record());
  const keys = Array.from({ length: 40 }, (_, i) => `shared ${i}`);
  for (let round = 0; round < 5; round++) {
    for (const [i, recorder] of recorders.entries())
      for (const key of i % 2 ? keys : keys.toReversed()) recorder.counts.add(key, 1, 0, 0);
    await Promise.all(recorders.map((recorder) => recorder.flush()));
  }
  expect(await Promise.all(keys.map(saved))).toEqual(keys.map(() => 30));
  await Promise.all(recorders.map((recorder) => recorder.stop()));
});

test('a request counts for its day, whenever it is saved and however the clock is set', () => {
  const midnight = Date.parse('2026-11-24T00:00:00Z');
  const counts = new UsageCounts(() => now);
  for (const [at, requests] of [
    [midnight - 1, 1],
    [midnight, 2],
    [midnight - 1, 4],
  ] as const) {
    now = at;
    counts.add('a', requests, 0, 0);
  }
  const days = counts.take().map(({ day, requests }) => [day * 86_400_000 - midnight, requests]);
  expect(days).toEqual([
    [-86_400_000, 5],
    [0, 2],
  ]);
});

test('the callers that wait to be saved are bounded; known ones are still counted', () => {
  const counts = new UsageCounts(() => now, 2);
  for (const caller of ['a', 'b', 'c', 'a', 'd']) counts.add(caller, 1, 0, 0);
  expect(counts.take().map(({ caller, requests }) => [caller, requests])).toEqual([
    ['a', 2],
    ['b', 1],
  ]);
  counts.add('c', 1, 0, 0);
  expect(counts.take()).toHaveLength(1);
});
