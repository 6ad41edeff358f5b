import { UsageRecorder } from '../../src/access/usage';
import { UsageService } from '../../src/access/usage-service';
import type { Database, Session, Statement } from '../../src/database/database';
import { Loaders } from '../../src/graphql/context';
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

/** How many of the next writes fail. */
let failures = 0;

/** The database, except that the next `failures` writes fail. */
function breaking(): Database {
  const serviceSession = (limitMs: number): Session => {
    const session = database.serviceSession(limitMs);
    const write = async <Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]> => {
      if (failures-- > 0) throw new Error('connection refused');
      return session.write<Row>(statement, values);
    };
    return Object.assign(Object.create(session), { write });
  };
  return Object.assign(Object.create(database), { serviceSession });
}

function record({ maxEntries = 1000 } = {}): UsageRecorder {
  const onState = (error: unknown) => states.push(error === undefined ? 'saved again' : 'failed');
  return new UsageRecorder(breaking(), { now: () => now, maxEntries, onState });
}

/** The requests of a caller on each of the last `days` days. A separate recorder reads them, as another process would. */
async function daily(caller: string, days = 1): Promise<number[]> {
  const reader = record();
  const usage = await new UsageService(reader, () => now).daily(
    { session: database.serviceSession(), loaders: new Loaders() },
    caller,
    days,
  );
  await reader.stop();
  return usage.map(({ requests }) => requests);
}

const saved = async (caller: string) => (await daily(caller))[0];

test('after a failed save, the next save includes all requests that are not saved yet', async () => {
  const recorder = record();
  recorder.count('unlucky', 5, 1, 0);
  expect(recorder.unsavedMs).toBe(0);
  failures = 2;
  for (let i = 0; i < 2; i++) {
    await recorder.flush();
    now += 5000;
    recorder.count('unlucky', 1, 0, 0);
  }
  expect([recorder.unsavedMs, await saved('unlucky')]).toEqual([10_000, 0]);
  for (let i = 0; i < 2; i++) {
    await recorder.flush();
    expect([recorder.unsavedMs, await saved('unlucky')]).toEqual([0, 7]);
  }
  expect(states).toEqual(['failed', 'saved again']);
  await recorder.stop();
});

test('the recorder stops even if its last save fails', async () => {
  const recorder = record();
  recorder.count('lost', 5, 0, 0);
  failures = 1;
  await recorder.stop();
  expect(await saved('lost')).toBe(0);
});

test('usage is saved periodically, and when the recorder stops', async () => {
  const recorder = record();
  recorder.start(20);
  recorder.count('periodic', 3, 0, 0);
  await until(async () => (await saved('periodic')) === 3);
  recorder.count('periodic', 1, 0, 0);
  await recorder.stop();
  expect(await saved('periodic')).toBe(4);
});

test('processes that save usage of the same keys at the same time neither deadlock nor lose a request', async () => {
  const recorders = Array.from({ length: 6 }, () => record());
  const keys = Array.from({ length: 40 }, (_, i) => `shared ${i}`);
  for (let round = 0; round < 5; round++) {
    for (const [i, recorder] of recorders.entries())
      for (const key of i % 2 ? keys : keys.toReversed()) recorder.count(key, 1, 0, 0);
    await Promise.all(recorders.map((recorder) => recorder.flush()));
  }
  expect(await Promise.all(keys.map(saved))).toEqual(keys.map(() => 30));
  await Promise.all(recorders.map((recorder) => recorder.stop()));
});

test('a request counts for the day on which it was made, even if it is saved later or the clock is set back', async () => {
  const recorder = record();
  const midnight = Date.parse('2026-11-24T00:00:00Z');
  for (const [at, requests] of [
    [midnight - 1, 1],
    [midnight, 2],
    [midnight - 1, 4],
  ] as const) {
    now = at;
    recorder.count('night owl', requests, 0, 0);
  }
  now = midnight;
  await recorder.stop();
  expect(await daily('night owl', 2)).toEqual([5, 2]);
});

test('between two saves, the recorder counts at most maxEntries callers, and ignores further callers', async () => {
  const recorder = record({ maxEntries: 2 });
  for (const caller of ['a', 'b', 'c', 'a', 'd']) recorder.count(caller, 1, 0, 0);
  await recorder.flush();
  expect(await Promise.all(['a', 'b', 'c', 'd'].map(saved))).toEqual([2, 1, 0, 0]);
  recorder.count('c', 1, 0, 0);
  await recorder.stop();
  expect(await saved('c')).toBe(1);
});
