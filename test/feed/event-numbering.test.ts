import { lock } from '../../src/database/advisory-locks';
import { cleanPeriodically } from '../../src/database/cleaning';
import type { Database } from '../../src/database/database';
import { openDatabase } from '../../src/database/open';
import { statement } from '../../src/database/statement';
import { EventNumbering } from '../../src/feed/event-numbering';
import { deleteOldEvents } from '../../src/feed/retention';
import { createDatabase, TEST_DATABASE_URL, truncate } from '../helper/database';
import { until } from '../helper/until';

const DAY = 24 * 60 * 60 * 1000;

let database: Database;
let url: string | undefined;
let drop: () => Promise<void>;
beforeAll(async () => {
  ({ database, url, drop } = await createDatabase());
});
beforeEach(() => truncate(database));
afterAll(() => drop());

const sql = <Row>(text: string, values: unknown[] = []) =>
  database.serviceSession().query<Row>(statement(text), values);
const WAITING = `select from pg_locks join pg_database on pg_database.oid = pg_locks.database
  where datname = current_database() and locktype = 'advisory' and not granted`;

/** Commits one event for each text. */
const commit = (...ids: string[]) =>
  sql(`insert into events (topic, kind, object_id) select 'pet', 'CREATED', unnest($1::text[])`, [ids]);
const numbered = async () =>
  (
    await sql<{ text: string }>(
      `select position || ' ' || object_id as text from events where position is not null order by position`,
    )
  ).map(({ text }) => text);
const lastEvent = async () => (await sql<{ position: bigint; id: bigint; at: Date }>('select * from last_event'))[0];

/** Runs `work` while the numbering runs on several instances. */
async function whileNumbering(databases: Database[], work: () => Promise<void>): Promise<void> {
  const all = databases.map((each) => new EventNumbering(each));
  let isOver = false;
  const loops = all.map(async (numbering) => {
    while (!isOver) await numbering.run();
  });
  await work().finally(() => {
    isOver = true;
  });
  await Promise.all(loops);
  await Promise.all(all.map((numbering) => numbering.stop()));
}

describe('positions', () => {
  test('are given in the order of ids, without gaps, and continue', async () => {
    const numbering = new EventNumbering(database);
    await commit('a', 'b');
    await numbering.run();
    await sql(`select nextval('events_id_seq') from generate_series(1, 7)`);
    await commit('c');
    await Promise.all([numbering.run(), numbering.run()]);
    await numbering.run();
    await numbering.stop();
    expect(await numbered()).toEqual(['1 a', '2 b', '3 c']);
    const [last] = await sql('select position, id, at from events order by position desc limit 1');
    expect(await lastEvent()).toMatchObject(last as object);
  });

  test('are assigned automatically, even without a reader', async () => {
    const numbering = new EventNumbering(database);
    numbering.start(10);
    await commit('a');
    await until(async () => (await numbered()).length === 1);
    await numbering.stop();
  });

  test('are given to more events than one transaction numbers', async () => {
    const numbering = new EventNumbering(database);
    await sql(
      `insert into events (topic, kind, object_id) select 'pet', 'CREATED', i from generate_series(1, 12001) as i`,
    );
    await numbering.run();
    await numbering.stop();
    expect(await sql('select max(position) as most, count(distinct position) as count from events')).toEqual([
      { most: 12001n, count: 12001n },
    ]);
  });

  const onPostgres = TEST_DATABASE_URL ? test : test.skip;

  onPostgres('have every event that was committed before, and wait for no open transaction', async () => {
    const numbering = new EventNumbering(database);
    let finish: () => void = () => undefined;
    const slow = database.serviceSession().transaction(async (tx) => {
      await tx.record({ topic: 'pet', kind: 'CREATED', objectId: 'slow' });
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
    });
    await commit('quick');
    await numbering.run();
    expect(await numbered()).toEqual(['1 quick']);
    finish();
    await slow;
    await numbering.run();
    await numbering.stop();
    expect(await numbered()).toEqual(['1 quick', '2 slow']);
  });

  onPostgres('are given once by several instances, in the order of the commits of each object', async () => {
    const other = await openDatabase({ url, directory: '' });
    const expected = new Set<string>();
    await whileNumbering([database, other, database, other], async () => {
      const writers = Array.from({ length: 8 }, async (_, writer) => {
        for (let i = 0; i < 50; i++) {
          const objectId = `${writer} ${i}`;
          expected.add(objectId);
          await database.serviceSession().transaction(async (tx) => {
            await tx.record({ topic: 'pet', kind: 'UPDATED', objectId });
            if (i % 7 === writer) await new Promise((resolve) => setTimeout(resolve, 5));
          });
        }
      });
      await Promise.all(writers);
    });
    await other.close();
    const numbering = new EventNumbering(database);
    await numbering.run();
    await numbering.stop();
    const rows = (await numbered()).map((text) => text.split(' ').map(Number));
    expect(rows.map(([position]) => position)).toEqual(rows.map((_, i) => i + 1));
    expect(new Set(rows.map(([, writer, i]) => `${writer} ${i}`))).toEqual(expected);
    for (let writer = 0; writer < 8; writer++) {
      const its = rows.filter((row) => row[1] === writer).map(([, , i]) => i);
      expect(its).toEqual(its.toSorted((a = 0, b = 0) => a - b));
    }
  });

  onPostgres('of an event that is committed while another instance numbers are given too', async () => {
    const numbering = new EventNumbering(database);
    let release: () => void = () => undefined;
    const other = database.serviceSession().transaction(async (tx) => {
      await lock(tx, 'numbering');
      await new Promise<void>((resolve) => {
        release = resolve;
      });
    });
    await commit('a');
    const waiting = numbering.run();
    await until(async () => (await sql(WAITING)).length === 1);
    await commit('b');
    release();
    await Promise.all([other, waiting]);
    await numbering.stop();
    expect(await numbered()).toEqual(['1 a', '2 b']);
  });
});

describe('retention', () => {
  const START = Date.UTC(2026, 10, 28);
  const keep = async (ages: number[]) => {
    await sql(
      `insert into events (topic, kind, object_id, at)
        select 'pet', 'CREATED', days, $2::timestamptz - days * interval '1 day' from unnest($1::int[]) as days`,
      [ages, new Date(START)],
    );
  };
  const clean = async (days: number, isDone: () => Promise<boolean>) => {
    const errors: unknown[] = [];
    const deletions = [deleteOldEvents(days, () => START)];
    const stop = cleanPeriodically(database, deletions, { onError: (error) => errors.push(error), every: 10 });
    await until(isDone);
    await stop();
    expect(errors).toEqual([]);
  };

  test('deletes events from the beginning of the feed that are older than the days to keep', async () => {
    const numbering = new EventNumbering(database);
    await keep([40, 31, 29, 35, 1]);
    await numbering.run();
    await clean(30, async () => (await numbered()).length === 3);
    expect(await numbered()).toEqual(['3 29', '4 35', '5 1']);
    expect(START - 30 * DAY).toBeLessThan((await lastEvent())?.at.getTime() ?? 0);
    await numbering.stop();
  });

  test('keeps events without a position, and the last position when it deletes every event', async () => {
    const numbering = new EventNumbering(database);
    await keep(Array.from({ length: 1_234 }, () => 40));
    await numbering.run();
    await keep([40]);
    const last = await lastEvent();
    await clean(30, async () => (await numbered()).length === 0);
    expect(await sql('select position from events')).toEqual([{ position: null }]);
    expect(await lastEvent()).toEqual(last);
    await numbering.run();
    await numbering.stop();
    expect(await numbered()).toEqual(['1235 40']);
  });
});
