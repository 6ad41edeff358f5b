import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Session } from '../../../src/database/database';
import { Deadline, Ended, OutcomeUnknown } from '../../../src/database/deadline';
import type { DatabaseThread } from '../../../src/database/embedded/database-thread';
import { connectTo } from '../../../src/database/embedded/open-embedded';
import { statement } from '../../../src/database/statement';
import { startPrepared } from '../../helper/prepared';
import { until } from '../../helper/until';

let thread: DatabaseThread;
let database: Database;
beforeAll(async () => {
  thread = await startPrepared();
  database = await connectTo(thread, 'embedded, in memory', { queue: 1000, requestTimeoutMs: 60_000 });
  await query('create table own (id int primary key, other int unique deferrable initially deferred)');
});
beforeEach(() => query('delete from own'));
afterAll(() => database.close());

const query = <Row>(text: string, values: unknown[] = [], session: Session = database.serviceSession()) =>
  session.query<Row>(statement(text), values);
const write = (text: string, values: unknown[] = [], session: Session = database.serviceSession()) =>
  session.write<{ id: number }>(statement(text), values);
const sessionOf = (caller: string, ms = 60_000) =>
  database.sessionFor({ callerId: caller, deadline: new Deadline(ms) });
const insert = (id: number, session: Session = database.serviceSession()) =>
  write('insert into own (id) values ($1::int) returning id', [id], session);
const ids = async () => (await query<{ id: number }>('select id from own order by id')).map(({ id }) => id);
/** Keeps the session busy. A write, since only two reads run at a time. */
const occupy = (seconds: number, caller = 'slow') => write(`select pg_sleep(${seconds})::text`, [], sessionOf(caller));
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    ({ code }) => code,
  );

describe('the session', () => {
  test('gives each of 2,000 failing and 2,000 other statements its own result', async () => {
    for (let round = 0; round < 20; round++) {
      const results = await Promise.all(
        Array.from({ length: 200 }, (_, n) =>
          n % 2
            ? query('select $1::int as n', [n], sessionOf(`caller ${n % 7}`))
            : codeOf(query('select 1 / $1::int', [0], sessionOf(`caller ${n % 7}`))),
        ),
      );
      expect(results).toEqual(Array.from({ length: 200 }, (_, n) => (n % 2 ? [{ n }] : '22012')));
    }
  });

  test('accepts and returns values of 5 MB, between other statements', async () => {
    const text = 'é'.repeat(2_500_000);
    const [first, large, last] = await Promise.all([
      query('select 1 as one'),
      query('select $1::text as text', [text], sessionOf('a')),
      query('select 2 as two', [], sessionOf('b')),
    ]);
    expect([first, last, large.length]).toEqual([[{ one: 1 }], [{ two: 2 }], 1]);
    expect((large[0] as { text: string }).text === text).toBe(true);
  });

  test('reports slots instead of connections, and no slot is lost', async () => {
    const busy = occupy(0.3);
    const many = Array.from({ length: 50 }, (_, n) => insert(n, sessionOf(`caller ${n % 5}`)));
    await sleep(50);
    expect(database.load).toEqual({ total: 32, idle: 0, waiting: 19 });
    await Promise.all([busy, ...many]);
    expect(database.load).toEqual({ total: 32, idle: 32, waiting: 0 });
  });
});

describe('a transaction', () => {
  test('does not contain the statements of other callers, sent before, during or after it', async () => {
    const kept: number[] = [];
    const works: Promise<unknown>[] = [];
    for (let n = 0; n < 300; n++) {
      const session = sessionOf(`caller ${n % 9}`);
      if (n % 3) {
        kept.push(n);
        works.push(insert(n, session));
      } else {
        const work = session.transaction(async (transaction) => {
          await insert(n, transaction);
          if (n % 2) await insert(1000 + n, transaction);
          throw new Error('no');
        });
        works.push(expect(work).rejects.toThrow('no'));
      }
      if (n % 20 === 0) await sleep(1);
    }
    await Promise.all(works);
    expect(await ids()).toEqual(kept);
  });

  test('does not contain a statement that has acquired a slot, but was not sent yet, when it begins', async () => {
    const kept: number[] = [];
    for (let microtasks = 0; microtasks < 20; microtasks++) {
      const work = sessionOf('a').transaction(async (transaction) => {
        await insert(1000 + microtasks, transaction);
        throw new Error('no');
      });
      work.catch(() => undefined);
      for (let n = 0; n < microtasks; n++) await undefined;
      await insert(microtasks, sessionOf('b'));
      kept.push(microtasks);
      await expect(work).rejects.toThrow('no');
    }
    expect(await ids()).toEqual(kept);
  });

  test('whose COMMIT fails does not roll back the transaction that follows', async () => {
    const fails = sessionOf('a').transaction(async (transaction) => {
      await write('insert into own values (1, 7), (2, 7)', [], transaction);
    });
    const follows = sessionOf('b').transaction((transaction) => insert(3, transaction));
    const single = insert(4, sessionOf('c'));
    expect(await codeOf(fails)).toBe('23505');
    await Promise.all([follows, single]);
    expect(await ids()).toEqual([3, 4]);
  });

  test('with a failed statement is rolled back, even if its function ignores the error', async () => {
    const work = database.serviceSession().transaction(async (transaction) => {
      await insert(1, transaction);
      await codeOf(query('select 1 / 0', [], transaction));
    });
    await expect(work).rejects.toThrow('A failed statement has rolled the transaction back.');
    expect(await ids()).toEqual([]);
  });

  test('that hangs is rolled back at its deadline, and its later statements are rejected', async () => {
    let late: Promise<unknown> | undefined;
    const begun = performance.now();
    let isOpen = false;
    const work = sessionOf('a', 200).transaction(async (transaction) => {
      await insert(1, transaction);
      isOpen = true;
      late = sleep(600).then(() => insert(2, transaction));
      late.catch(() => undefined);
      await new Promise(() => undefined);
    });
    work.catch(() => undefined);
    await until(() => isOpen);
    expect(await insert(3, sessionOf('b'))).toEqual([{ id: 3 }]);
    expect(performance.now() - begun).toBeGreaterThan(150);
    await expect(work).rejects.toThrow(Ended);
    expect(performance.now() - begun).toBeLessThan(600);
    await expect(late).rejects.toThrow();
    expect(await ids()).toEqual([3]);
  });

  test('of Prisma for a nested create is rolled back whole', async () => {
    const create = (...names: string[]) =>
      database.prisma.category.create({ data: { name: 'Dogs', pets: { create: names.map((name) => ({ name })) } } });
    await expect(create('Rex', '')).rejects.toThrow();
    const [, counted] = await Promise.all([
      create('Rex', 'Bello'),
      query('select 1 as one').then(() => database.prisma.pet.count()),
    ]);
    expect([0, 2]).toContain(counted);
    expect(await database.prisma.category.count()).toBe(1);
  });
});

describe('at the deadline, or when the client disconnects,', () => {
  const WORKS: readonly ((session: Session) => Promise<unknown>)[] = [
    (session) => insert(1, session),
    (session) => session.transaction((transaction) => insert(1, transaction)),
    (session) => query('select 1', [], session),
    (session) => session.query(statement('select 1'), [], true),
  ];
  test('work that waits behind a slow statement is rejected at once, and never runs', async () => {
    let isBusy = true;
    const busy = occupy(2).then(() => {
      isBusy = false;
    });
    await sleep(50);
    for (const run of WORKS) {
      await expect(run(sessionOf('a', 100))).rejects.toThrow(Ended);
      const leaving = sessionOf('b');
      const left = run(leaving);
      setTimeout(() => leaving.requester.deadline.end(), 50);
      await expect(left).rejects.toThrow(Ended);
    }
    expect(isBusy).toBe(true);
    await busy;
    expect(await ids()).toEqual([]);
  });

  test('a write that has started succeeds if it ends soon; otherwise its outcome is reported as unknown', async () => {
    const slow = (id: number, seconds: number) =>
      write(`insert into own (id) select ${id} from pg_sleep(${seconds}) returning id`, [], sessionOf('a', 100));
    expect(await slow(1, 0.3)).toEqual([{ id: 1 }]);
    await expect(slow(2, 1.5)).rejects.toThrow(OutcomeUnknown);
    expect(await ids()).toEqual([1, 2]);
  });

  test('a dropped statement does not prevent the same statement of another caller', async () => {
    const busy = occupy(0.5);
    await sleep(50);
    const text = "select 'new' as text, $1::int as n";
    const dropped = query(text, [1], sessionOf('a', 50));
    const other = query(text, [2], sessionOf('b'));
    await expect(dropped).rejects.toThrow(Ended);
    expect(await other).toEqual([{ text: 'new', n: 2 }]);
    expect(await query(text, [3])).toEqual([{ text: 'new', n: 3 }]);
    await busy;
  });
});

describe('prepared statements', () => {
  const prepared = async () =>
    (await query<{ name: string }>('select name from pg_prepared_statements')).map(({ name }) => name);

  test('are deallocated when there are too many, and statements in flight at this moment still work', async () => {
    const { parsedStatements } = thread.client.connection;
    for (let round = 0; round < 30; round++) {
      const works = Array.from({ length: 50 }, async (_, n) => {
        const known = round % 2 ? n : 50 * round + n;
        const result = await query(`select ${known} as n`, [], sessionOf(`caller ${n % 8}`));
        expect(result).toEqual([{ n: known }]);
      });
      await Promise.all(works);
    }
    expect((await prepared()).length).toBeLessThan(600);
    expect(Object.keys(parsedStatements).length).toBeLessThan(650);
    expect(thread.client.connection.parsedStatements).toBe(parsedStatements);
  });

  test('that fail in an unknown way are prepared again, and all others stay prepared', async () => {
    const known = async () => await Promise.all([query('select 1 as kept'), query('select * from own', [])]);
    await known();
    await known();
    const before = await prepared();
    await query('alter table own add column more int');
    expect(await codeOf(query('select * from own'))).toBe('0A000');
    expect(await query('select * from own')).toEqual([]);
    expect(await prepared()).toEqual(expect.arrayContaining(before));
    await query('alter table own drop column more');
  });

  test('that cannot be prepared all fail with the same error', async () => {
    const works = Array.from({ length: 10 }, (_, n) => codeOf(query('select missing', [], sessionOf(`caller ${n}`))));
    expect(await Promise.all(works)).toEqual(Array(10).fill('42703'));
  });
});

test('many slow reads of one caller delay another caller by two of them at most', async () => {
  const took: number[] = [];
  for (let n = 0; n < 3; n++) {
    const slow = Array.from({ length: 20 }, () => query('select pg_sleep(0.03)::text', [], sessionOf('greedy')));
    const begun = performance.now();
    await sessionOf('other').query(statement('select 1'), [], true);
    took.push(performance.now() - begun);
    await Promise.all(slow);
  }
  // On a busy machine, one of them may take longer.
  expect(Math.min(...took)).toBeLessThan(300);
});
