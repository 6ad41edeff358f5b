import { UsageRecorder } from '../../src/access/usage-recorder';
import type { Database, Session, Statement } from '../../src/database/database';
import type { Work } from '../../src/database/deadline';
import { createDatabase } from '../helper/database';

let database: Database;
let drop: () => Promise<void>;
beforeAll(async () => {
  ({ database, drop } = await createDatabase());
});
afterAll(() => drop());

const NOW = Date.parse('2026-11-23T12:00:00Z');
const TODAY = Math.floor(NOW / 86_400_000);
const NEVER = 3_600_000;

/** What happens to the next writes: they fail, or are done although their sender is told that they have failed. */
type Fault = 'fails' | 'is done, but nobody hears of it';
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

async function requestsOf(recorder: UsageRecorder, caller: string): Promise<number> {
  const rows = await recorder.read(database, [caller], TODAY - 10);
  return rows.reduce((sum, { requests }) => sum + requests, 0);
}

const recording = (states: (string | undefined)[] = []) =>
  new UsageRecorder(breaking(), {
    now: () => NOW,
    every: NEVER,
    onState: (error) => states.push(error === undefined ? 'saved again' : String(error)),
  });

describe('a save that fails', () => {
  test.each<[Fault]>([['fails'], ['is done, but nobody hears of it']])(
    'because it %s is sent again, and counted once',
    async (fault) => {
      const states: string[] = [];
      const recorder = recording(states);
      const other = recording();
      const caller = `key ${fault}`;
      recorder.counts.add(caller, 5, 1, 0);
      faults = [fault, fault];
      await recorder.flush();
      expect(await requestsOf(recorder, caller)).toBe(5);
      recorder.counts.add(caller, 2, 0, 0);
      await recorder.flush();
      expect(await requestsOf(recorder, caller)).toBe(7);
      await recorder.flush();
      expect(await requestsOf(recorder, caller)).toBe(7);
      expect(await requestsOf(other, caller)).toBe(7);
      expect(states).toEqual([expect.stringContaining('connection'), 'saved again']);
      await Promise.all([recorder.stop(), other.stop()]);
    },
  );

  test('is told by how long it has lasted, until what was counted is saved', async () => {
    const states: string[] = [];
    let now = NOW;
    const onState = (error: unknown) => states.push(error === undefined ? 'saved again' : 'failed');
    const recorder = new UsageRecorder(breaking(), { now: () => now, every: NEVER, onState });
    recorder.counts.add('told', 1, 0, 0);
    expect(recorder.unsavedMs).toBe(0);
    faults = ['fails', 'fails'];
    for (let i = 0; i < 2; i++) {
      await recorder.flush();
      now += 5000;
    }
    expect(recorder.unsavedMs).toBe(10_000);
    await recorder.flush();
    expect(recorder.unsavedMs).toBe(0);
    expect(states).toEqual(['failed', 'saved again']);
    await recorder.stop();
  });

  test('when the process ends does not keep it from ending', async () => {
    const recorder = recording();
    recorder.counts.add('lost', 5, 0, 0);
    faults = ['fails'];
    await recorder.stop();
    expect(await requestsOf(recording(), 'lost')).toBe(0);
  });
});

test('processes that save the same keys at once neither wait for ever nor lose anything', async () => {
  const recorders = Array.from({ length: 6 }, () => recording());
  const keys = Array.from({ length: 40 }, (_, i) => `shared ${i}`);
  for (let round = 0; round < 5; round++) {
    for (const [i, recorder] of recorders.entries())
      for (const key of i % 2 ? keys : [...keys].reverse()) recorder.counts.add(key, 1, 0, 0);
    await Promise.all(recorders.map((recorder) => recorder.flush()));
  }
  const [one] = recorders as [UsageRecorder];
  const sums = await Promise.all(keys.map((key) => requestsOf(one, key)));
  expect(sums).toEqual(keys.map(() => 30));
  await Promise.all(recorders.map((recorder) => recorder.stop()));
});

test('it saves by itself, and what it has yet to save when it stops', async () => {
  const recorder = new UsageRecorder(database, { now: () => NOW, every: 20 });
  const other = recording();
  recorder.counts.add('by itself', 3, 0, 0);
  for (let i = 0; i < 200 && (await requestsOf(other, 'by itself')) === 0; i++)
    await new Promise((resolve) => setTimeout(resolve, 10));
  expect(await requestsOf(other, 'by itself')).toBe(3);
  recorder.counts.add('by itself', 1, 0, 0);
  await recorder.stop();
  expect(await requestsOf(other, 'by itself')).toBe(4);
});
