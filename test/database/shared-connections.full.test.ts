import type { Database } from '../../src/database/database';
import { openDatabase } from '../../src/database/open';
import { statement } from '../../src/database/statement';
import { createDatabase, TEST_DATABASE_URL } from '../helper/database';
import { until } from '../helper/until';

const onPostgres = TEST_DATABASE_URL ? describe : describe.skip;

onPostgres('quick statements on PostgreSQL', () => {
  let home: Awaited<ReturnType<typeof createDatabase>>;
  let database: Database;
  beforeAll(async () => {
    home = await createDatabase();
  });
  afterAll(() => home.drop());
  beforeEach(async () => {
    database = await openDatabase({ url: home.url, directory: '', poolSize: 10 });
    await timeless(() => until(async () => new Set(await all(20, pid)).size <= 2));
  });
  afterEach(() => database.close());

  /** Runs with the clock stopped, so that no connection seems overloaded, however busy the machine is. */
  const timeless = async <T>(work: () => Promise<T>): Promise<T> => {
    const clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now());
    try {
      return await work();
    } finally {
      clock.mockRestore();
    }
  };

  const read = async <Row>(text: string, ...values: unknown[]) =>
    (await database.query<Row>(statement(text), values, 'read'))[0] as Row;
  const pid = async () => (await read<{ pid: number }>('select pg_backend_pid() as pid')).pid;
  const echo = async (i: number) => (await read<{ i: number }>('select $1::int as i', i)).i;
  const all = <T>(count: number, one: (i: number) => Promise<T>) =>
    Promise.all(Array.from({ length: count }, (_, i) => one(i)));

  test('from one turn of the event loop share connections, and each gets its own result', async () => {
    await timeless(() => until(async () => new Set(await all(100, pid)).size <= 2));
    expect(await all(100, echo)).toEqual(Array.from({ length: 100 }, (_, i) => i));
  });

  test('count as connections in use', async () => {
    const busy = all(4, () => read('select pg_sleep(0.2)'));
    await until(async () => database.load?.idle !== database.load?.total);
    expect(database.load?.total).toBeLessThanOrEqual(10);
    await busy;
    expect(database.load?.idle).toBe(database.load?.total);
  });

  test('do not wait behind a slow one', async () => {
    const done: string[] = [];
    const slow = all(2, () => read('select pg_sleep(0.6)')).then(() => done.push('slow'));
    await new Promise((resolve) => setTimeout(resolve, 100));
    const quick = all(20, echo).then(() => done.push('quick'));
    await Promise.all([slow, quick]);
    expect(done).toEqual(['quick', 'slow']);
  });

  test('that fail do not affect the others', async () => {
    const half = async (i: number) =>
      (await read<{ half: number }>('select (10 / ($1::int - 3)) as half', i)).half;
    const settled = await Promise.allSettled(Array.from({ length: 8 }, (_, i) => half(i)));
    expect(settled.map(({ status }) => status)).toEqual([
      ...Array(3).fill('fulfilled'),
      'rejected',
      ...Array(4).fill('fulfilled'),
    ]);
    expect(settled[3]).toMatchObject({ reason: { code: '22012' } });
  });

  test('that lose their connection are run again on another', async () => {
    const shared = await pid();
    const slow = all(
      10,
      async (i) => (await read<{ i: number }>('select $1::int as i, pg_sleep(0.05)', i)).i,
    );
    await home.database.query(statement('select pg_terminate_backend($1)'), [shared]);
    expect(await slow).toEqual(Array.from({ length: 10 }, (_, i) => i));
    await until(async () => new Set(await all(12, pid)).size === 2);
  });

  test('that time out are not run again', async () => {
    await home.database.query(statement('create sequence runs'), []);
    await database.close();
    database = await openDatabase({ url: home.url, directory: '', poolSize: 10, requestTimeoutMs: 400 });
    await until(async () => new Set(await all(12, pid)).size === 2);
    await expect(read("select nextval('runs'), pg_sleep(5)")).rejects.toMatchObject({ code: '57014' });
    expect(await read('select last_value as runs from runs')).toEqual({ runs: 1n });
  });

  describe('inserts', () => {
    const insert = async <Row>(text: string, values: unknown[] = [], stockOf: bigint | null = null) =>
      (await database.query<Row>(statement(text), values, { stockOf }))[0] as Row;
    const inserter = async () => (await insert<{ pid: number }>('select pg_backend_pid() as pid')).pid;
    const count = async () =>
      (await home.database.query<{ n: number }>(statement('select count(*)::int as n from things'), []))[0]
        ?.n;
    const half = (i: number) => insert('insert into things values (10 / ($1::int - 3)) returning i', [i]);
    beforeEach(async () => {
      await home.database.query(statement('create table things (i int)'), []);
      await timeless(() => until(async () => new Set(await all(20, inserter)).size === 1));
    });
    afterEach(() => home.database.query(statement('drop table things'), []));

    test('share a separate connection, so that no read waits for them', async () => {
      const [inserters, readers] = await timeless(() => Promise.all([all(20, inserter), all(20, pid)]));
      for (const reader of readers) expect(inserters).not.toContain(reader);
    });

    test('that are sent together commit together', async () => {
      const text = 'insert into things values ($1) returning i, txid_current() as transaction';
      const one = (i: number) => insert<{ i: number; transaction: bigint }>(text, [i]);
      const transactions = await timeless(() => all(20, one));
      expect(transactions.map(({ i }) => i)).toEqual(Array.from({ length: 20 }, (_, i) => i));
      // Some are sent at once, the others when those are done.
      expect(new Set(transactions.map(({ transaction }) => transaction)).size).toBe(2);
      expect(await count()).toBe(20);
    });

    test('that fail get their error, and the others still run once', async () => {
      for (let times = 1; times <= 3; times++) {
        const settled = await Promise.allSettled(Array.from({ length: 8 }, (_, i) => half(i)));
        expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(7);
        expect(settled[3]).toMatchObject({ reason: { code: '22012' } });
        expect(await count()).toBe(7 * times);
      }
    });

    test('with values that cannot be sent are left out, and all others get their own results', async () => {
      const unsent = {
        toPostgres() {
          throw new Error('unsent');
        },
      };
      const text = 'insert into things values ($1) returning i';
      const settled = await Promise.allSettled([1, 2, unsent, 4].map((value) => insert(text, [value])));
      expect(settled).toMatchObject([
        { value: { i: 1 } },
        { value: { i: 2 } },
        { reason: { message: 'unsent' } },
        { value: { i: 4 } },
      ]);
      expect(await count()).toBe(3);
    });

    test('are prepared again if an error prevented it', async () => {
      const failing = expect(half(3)).rejects.toMatchObject({ code: '22012' });
      const text = 'insert into things values ($1::int + 1) returning i';
      expect(await insert(text, [1])).toEqual({ i: 2 });
      await failing;
      const pids = await timeless(() => Promise.all([insert(text, [2]), inserter(), inserter()]));
      expect(pids[0]).toEqual({ i: 3 });
      expect(pids[1]).toBe(pids[2]);
    });

    test('that fail only on commit are run again one by one, each with its own result', async () => {
      await home.database.query(
        statement('create table once (i int unique deferrable initially deferred)'),
        [],
      );
      const text = 'insert into once values ($1) returning i';
      const settled = await Promise.allSettled([1, 2, 2, 3].map((i) => insert(text, [i])));
      expect(settled.map(({ status }) => status).sort()).toEqual([...Array(3).fill('fulfilled'), 'rejected']);
      expect(settled.find(({ status }) => status === 'rejected')).toMatchObject({
        reason: { code: '23505' },
      });
      expect(await insert(text, [4])).toEqual({ i: 4 });
      await home.database.query(statement('drop table once'), []);
    });

    test('that wait for a lock do not hold up others', async () => {
      await insert('insert into things values (1)');
      const done: string[] = [];
      let held = Promise.resolve();
      await new Promise<void>((resolve) => {
        held = home.database.transaction(async (session) => {
          await session.query(statement('update things set i = i'), []);
          resolve();
          await new Promise((wait) => setTimeout(wait, 600));
          done.push('held');
        });
      });
      const lock = insert('update things set i = i where i = 1 returning i', [], 1n).then(() =>
        done.push('lock'),
      );
      const others = all(3, (i) => insert('insert into things values ($1)', [i + 2], BigInt(2 * i)));
      await others.then(() => done.push('others'));
      await Promise.all([held, lock]);
      expect(done).toEqual(['others', 'held', 'lock']);
      expect(await count()).toBe(4);
    });

    test('lock stock in order of id', async () => {
      await home.database.query(statement('create sequence turns'), []);
      const ids = [5n, null, 3n, 9n, 3n, 1n, null];
      const turns = await Promise.all(
        ids.map((id) => insert<{ turn: bigint }>("select nextval('turns') as turn", [], id)),
      );
      const inTurn = ids
        .map((id, at) => ({ id, turn: turns[at]?.turn ?? 0n }))
        .sort((a, b) => Number(a.turn - b.turn));
      expect(inTurn.map(({ id }) => id)).toEqual([null, null, 1n, 3n, 3n, 5n, 9n]);
      await home.database.query(statement('drop sequence turns'), []);
    });

    test('that are slow spread over all connections', async () => {
      const slow = (times: number) => all(times, () => insert('select pg_sleep(0.1)'));
      await slow(16);
      const begun = performance.now();
      await slow(16);
      // One after the other they would take 1600 ms.
      expect(performance.now() - begun).toBeLessThan(1000);
    });

    test('are not run again when their connection is lost, unless they were not sent yet', async () => {
      const lost = expect(insert('insert into things select 1 from pg_sleep(0.5)')).rejects.toThrow(
        'terminat',
      );
      const shared = await new Promise<number>((resolve) => setImmediate(() => resolve(lostPid())));
      const behind = insert('insert into things values (2) returning i');
      await home.database.query(statement('select pg_terminate_backend($1)'), [shared]);
      await lost;
      expect(await behind).toEqual({ i: 2 });
      await new Promise((resolve) => setTimeout(resolve, 600));
      expect(await count()).toBe(1);
    });

    async function lostPid(): Promise<number> {
      const text = "select pid from pg_stat_activity where query like 'insert into things select%'";
      let found: { pid: number } | undefined;
      await until(async () => {
        [found] = await home.database.query<{ pid: number }>(statement(text), []);
        return found !== undefined;
      });
      return found?.pid ?? 0;
    }
  });
});
