import type { Database } from '../../src/database/database';
import { Deadline } from '../../src/database/deadline';
import { failureOf } from '../../src/database/failures';
import { openDatabase } from '../../src/database/open';
import { statement } from '../../src/database/statement';
import { createDatabase, TEST_DATABASE_URL } from '../helper/database';
import { until } from '../helper/until';

const onPostgres = TEST_DATABASE_URL ? describe : describe.skip;

onPostgres('on PostgreSQL', () => {
  let home: Awaited<ReturnType<typeof createDatabase>>;
  let database: Database;
  beforeAll(async () => {
    home = await createDatabase();
  });
  afterAll(() => home.drop());
  beforeEach(async () => {
    await home.database.serviceSession().query(statement('create table things (i int, name text)'), []);
    await open();
  });
  afterEach(async () => {
    await database.close();
    await home.database.serviceSession().query(statement('drop table things'), []);
  });

  const open = async (poolSize = 10) => {
    database = await openDatabase({ url: home.url, directory: '', poolSize });
  };
  const reopen = async (poolSize: number) => {
    await database.close();
    await open(poolSize);
  };

  /** Runs a statement on a connection of the pool. @returns its first row. */
  const run = async <Row>(text: string, ...values: unknown[]) =>
    (await database.serviceSession().query<Row>(statement(text), values))[0] as Row;
  /** Runs a short read on a shared connection. @returns its first row. */
  const read = async <Row>(text: string, ...values: unknown[]) =>
    (await database.serviceSession().query<Row>(statement(text), values, true))[0] as Row;
  const all = <T>(count: number, one: (i: number) => Promise<T>) =>
    Promise.all(Array.from({ length: count }, (_, i) => one(i)));
  const allSettled = <T>(count: number, one: (i: number) => Promise<T>) =>
    Promise.allSettled(Array.from({ length: count }, (_, i) => one(i)));

  const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);
  const echo = async (i: number) => (await read<{ i: number }>('select $1::int as i', i)).i;
  const pid = async () => (await read<{ pid: number }>('select pg_backend_pid() as pid')).pid;
  const ownPid = async () => (await run<{ pid: number }>('select pg_backend_pid() as pid')).pid;
  const count = async () => (await run<{ n: number }>('select count(*)::int as n from things')).n;
  const terminate = (backend: number) =>
    home.database.serviceSession().query(statement('select pg_terminate_backend($1)'), [backend]);
  const insert = (i: unknown) => run<{ i: number }>('insert into things values ($1) returning i', i);
  /** An SQL expression that divides by zero if `i` is 3. */
  const half = (i: number) => `(10 / (${i} - 3))`;
  const unsent = {
    toPostgres() {
      throw new Error('unsent');
    },
  };

  /** Runs `work` with the clock stopped, so that no connection counts as slow on a busy machine. */
  const timeless = async <T>(work: () => Promise<T>): Promise<T> => {
    const clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now());
    try {
      return await work();
    } finally {
      clock.mockRestore();
    }
  };
  /** Waits until short reads share one connection. @returns the process id of its backend. */
  const shared = async () => {
    let pids: number[] = [];
    await until(async () => {
      pids = [...new Set(await timeless(() => all(50, pid)))];
      return pids.length === 1;
    });
    return pids[0] ?? 0;
  };

  test('one caller holds at most 7 of 10 connections, and another caller is served in the meantime', async () => {
    const sessionOf = (caller: string) => database.sessionFor({ callerId: caller, deadline: new Deadline(10_000) });
    const sleeping = all(8, () => sessionOf('a').query(statement('select pg_sleep(1)'), []));
    await sessionOf('b').query(statement('select 1'), []);
    expect(database.load).toMatchObject({ waiting: 1 });
    await sleeping;
  });

  describe('short reads', () => {
    beforeEach(async () => {
      await shared();
    });

    test('that run at the same time share at most two connections, and each gets its own result', async () => {
      const results = await timeless(() => all(50, async (i) => [await echo(i), await pid()] as const));
      expect(results.map(([i]) => i)).toEqual(numbers(50));
      expect(new Set(results.map(([, backend]) => backend)).size).toBeLessThanOrEqual(2);
    });

    test('and other statements together never open more connections than configured', async () => {
      let most = 0;
      const watch = setInterval(async () => {
        const text = `select count(*)::int as n from pg_stat_activity
          where datname = current_database() and application_name = 'petstore-gateway' and pid <> pg_backend_pid()`;
        const [row] = await home.database.serviceSession().query<{ n: number }>(statement(text), []);
        most = Math.max(most, row?.n ?? 0);
      }, 20);
      const long = all(30, () => run('select pg_sleep(0.1)'));
      for (let i = 0; i < 10; i++) await all(300, echo);
      await long;
      clearInterval(watch);
      // A single caller can use seven pooled connections and two shared connections.
      expect(most).toBeGreaterThan(7);
      // The query above may also count a connection of `home.database`.
      expect(most).toBeLessThanOrEqual(10 + 1);
      expect(database.load).toMatchObject({ waiting: 0 });
      expect(database.load?.total).toBeLessThanOrEqual(10);
      expect(database.load?.idle).toBe(database.load?.total);
    });

    test('use only pooled connections if the pool is too small for shared connections', async () => {
      await reopen(4);
      await all(100, echo);
      expect(database.load?.total).toBeLessThanOrEqual(4);
      expect(new Set(await all(50, pid)).size).toBe(3);
    });

    test('do not wait behind a short read that is already slow', async () => {
      const done: string[] = [];
      const slow = all(2, () => read('select pg_sleep(0.6)')).then(() => done.push('slow'));
      await new Promise((resolve) => setTimeout(resolve, 100));
      const quick = all(20, echo).then(() => done.push('quick'));
      await Promise.all([slow, quick]);
      expect(done).toEqual(['quick', 'slow']);
    });

    test('that wait behind a slow read succeed after the server cancels the slow read after a second', async () => {
      const begun = performance.now();
      const [slow, quick] = await timeless(async () => [
        read('select pg_sleep(4) is not null as slept').catch((error: unknown) => failureOf(error)),
        all(20, echo),
      ]);
      expect(await quick).toEqual(numbers(20));
      expect(await slow).toBe('timeout');
      expect(performance.now() - begun).toBeLessThan(4000);
    });

    test('of a locked table delay other short reads for less than a second, and succeed once the lock is free', async () => {
      await insert(7);
      const held = await home.database.serviceSession().transaction(async (tx) => {
        await tx.write({ name: '', text: 'lock table things in access exclusive mode' }, []);
        const begun = performance.now();
        const locked = timeless(() => all(8, () => read<{ i: number }>('select i from things')));
        const others = await timeless(() => all(20, echo));
        const ms = performance.now() - begun;
        // Longer than a read may take on a shared connection.
        await new Promise((resolve) => setTimeout(resolve, 1_200));
        return { locked, others, ms };
      });
      expect(held.others).toEqual(numbers(20));
      expect(held.ms).toBeLessThan(900);
      expect((await held.locked).map(({ i }) => i)).toEqual(Array(8).fill(7));
    });

    test('fail if their connection is lost, and the connection is replaced', async () => {
      await reopen(5);
      const lost = await shared();
      const slow = timeless(() => allSettled(10, (i) => read('select $1::int as i, pg_sleep(0.1)', i)));
      await terminate(lost);
      const failures = (await slow).map((each) => each.status === 'rejected' && failureOf(each.reason));
      expect(new Set(failures.slice(1))).toEqual(new Set(['unavailable']));
      await until(async () => (await shared()) !== lost);
    });
  });

  describe.each([
    ['short reads', true],
    ['other statements', false],
  ])('%s', (_what, isShort) => {
    const one = (text: string, ...values: unknown[]) => (isShort ? read : run)<{ i: number }>(text, ...values);
    beforeEach(async () => {
      if (isShort) await shared();
    });

    test('that fail do not affect statements that run at the same time', async () => {
      for (let times = 0; times < 3; times++) {
        const settled = await allSettled(8, (i) => one(`select ${half(i)} as i`));
        expect(settled.map(({ status }) => status === 'fulfilled')).toEqual(numbers(8).map((i) => i !== 3));
        expect(settled[3]).toMatchObject({ reason: { code: '22012' } });
      }
    });

    test('with an unserializable value fail; concurrent statements succeed, and the same SQL works later', async () => {
      const text = 'select $1::int as i';
      const settled = await allSettled(4, (i) => one(text, i === 2 ? unsent : i));
      expect(settled[2]).toMatchObject({ reason: { message: 'unsent' } });
      expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
      expect(await all(20, (i) => one(text, i))).toEqual(numbers(20).map((i) => ({ i })));
    });
  });

  describe('other statements', () => {
    test('run exactly once, even if concurrent statements fail', async () => {
      for (let times = 1; times <= 3; times++) {
        await allSettled(8, (i) => run(`insert into things values ${half(i)} returning i`));
        expect(await count()).toBe(7 * times);
      }
    });

    test('do not run on the connection that short reads share', async () => {
      const reader = await shared();
      expect(await all(20, ownPid)).not.toContain(reader);
    });

    test('that wait for a lock do not delay concurrent inserts', async () => {
      await insert(1);
      const done: string[] = [];
      let held = Promise.resolve();
      await new Promise<void>((resolve) => {
        held = home.database.serviceSession().transaction(async (session) => {
          await session.query(statement('update things set i = i'), []);
          resolve();
          await new Promise((wait) => setTimeout(wait, 600));
          done.push('held');
        });
      });
      const lock = run('update things set i = i where i = 1').then(() => done.push('lock'));
      const others = all(3, (i) => insert(i + 2)).then(() => done.push('others'));
      await Promise.all([held, lock, others]);
      expect(done).toEqual(['others', 'held', 'lock']);
      expect(await count()).toBe(4);
    });

    test('whose clients disconnect are cancelled at once, and leave their connections open', async () => {
      const from = 'from pg_stat_activity where datname = current_database()';
      const processes = async () => (await run<{ pids: number[] }>(`select array_agg(pid) as pids ${from}`)).pids;
      const sleeping = async () => {
        const text = `select count(*)::int as n ${from} and state = 'active' and query = 'select pg_sleep(60)'`;
        return (await run<{ n: number }>(text)).n;
      };
      const deadline = new Deadline(60_000);
      const session = database.sessionFor({ callerId: 'leaver', deadline });
      const ended = numbers(6).map(() => session.query(statement('select pg_sleep(60)'), []));
      await until(async () => (await sleeping()) === 6);
      await database.canWrite();
      const before = await processes();
      deadline.end();
      expect(await Promise.allSettled(ended)).toEqual(
        numbers(6).map(() => expect.objectContaining({ status: 'rejected' })),
      );
      await until(async () => (await sleeping()) === 0, 1);
      await all(20, (i) => run('select $1::int as i', i));
      expect(await processes()).toEqual(expect.arrayContaining(before));
    });

    test('that violate a constraint leave their connection open', async () => {
      await reopen(1);
      const before = await ownPid();
      await run('alter table things add unique (i)');
      await insert(1);
      for (let times = 0; times < 3; times++) await expect(insert(1)).rejects.toMatchObject({ code: '23505' });
      expect(await ownPid()).toBe(before);
    });

    test.each([
      ['are retried after a serialization failure', '40001', 2],
      ['are not retried after another error', '22012', 1],
    ])('%s', async (_what, code, runs) => {
      await run('create sequence runs');
      await run(`create function fail() returns int language plpgsql as $$ begin
        if nextval('runs') = 1 then raise exception 'fails' using errcode = '${code}'; end if; return 1; end $$`);
      const settled = await Promise.allSettled([run('insert into things select fail() returning i')]);
      expect(settled).toMatchObject([runs === 2 ? { value: { i: 1 } } : { reason: { code } }]);
      expect(await run('select last_value::int as runs from runs')).toEqual({ runs });
      await run('drop function fail');
      await run('drop sequence runs');
    });

    test('are not retried when their connection is lost, and statements on other connections are not affected', async () => {
      const lost = run('insert into things select 1 from pg_sleep(0.5)').then(
        () => 'done',
        ({ message }) => message,
      );
      const others = all(5, (i) => insert(i));
      const text = "select pid from pg_stat_activity where query like 'insert into things select%'";
      let found: { pid: number } | undefined;
      await until(async () => {
        [found] = await home.database.serviceSession().query<{ pid: number }>(statement(text), []);
        return found !== undefined;
      });
      await terminate(found?.pid ?? 0);
      expect(await lost).toMatch('terminat');
      expect(await others).toHaveLength(5);
      await new Promise((resolve) => setTimeout(resolve, 600));
      expect(await count()).toBe(5);
    });
  });

  describe('a prepared statement', () => {
    test('returns its own columns, even if another statement ran in between on the connection', async () => {
      await reopen(1);
      await run("insert into things values (1, 'one'), (2, null)");
      const thing = (i: number) => run('select i, name from things where i = $1', i);
      const both = async () => [await thing(1), await run('select $1::text as word', 'w'), await thing(2)];
      const expected = [{ i: 1, name: 'one' }, { word: 'w' }, { i: 2, name: null }];
      expect(await both()).toEqual(expected);
      expect(await both()).toEqual(expected);
    });

    test('returns the new columns after they have changed', async () => {
      await reopen(1);
      await run("insert into things values (1, 'one')");
      const thing = () => run('select name from things where i = $1', 1);
      expect(await thing()).toEqual({ name: 'one' });
      await run('alter table things alter name type int using length(name)');
      expect(await thing()).toEqual({ name: 3 });
    });

    test.each([
      ['a shared connection', 10, true],
      ['a pooled connection', 1, false],
    ])('is kept on %s, which keeps hundreds of statements, up to a limit', async (_what, size, isShort) => {
      await reopen(size);
      if (isShort) await shared();
      const one = (text: string, ...values: unknown[]) => (isShort ? read : run)(text, ...values);
      const kept: number[] = [];
      for (let n = 0; n < 1300; n++) {
        expect(await one(`select $1::int as n${n}`, n)).toEqual({ [`n${n}`]: n });
        if (n % 50 === 0) {
          const row = await one('select count(*)::int as kept from pg_prepared_statements');
          kept.push((row as { kept: number }).kept);
        }
      }
      expect(Math.max(...kept)).toBeGreaterThan(100);
      expect(Math.max(...kept)).toBeLessThan(600);
      for (const n of [0, 1299, 0]) expect(await one(`select $1::int as n${n}`, n)).toEqual({ [`n${n}`]: n });
    });

    test('takes little memory of the backend; statements with very long texts are not kept', async () => {
      await reopen(1);
      const bytes = async () =>
        (await run<{ bytes: number }>('select sum(total_bytes)::int as bytes from pg_backend_memory_contexts')).bytes;
      const prepared = async () =>
        (
          await run<{ n: number }>(
            'select count(*)::int as n from pg_prepared_statements where length(statement) > 500',
          )
        ).n;
      const wide = (n: number, columns: number) =>
        `select ${Array.from({ length: columns }, (_, i) => `name || ${i} as "${`n${n}_${i}_`.padEnd(60, 'x')}"`).join(', ')} from things`;
      await run("insert into things values (1, 'one')");
      const before = await bytes();
      for (let n = 0; n < 20; n++) expect(Object.keys(await run<object>(wide(n, 1000)))).toHaveLength(1000);
      expect(await prepared()).toBe(0);
      expect((await bytes()) - before).toBeLessThan(2_000_000);
      const most = [];
      for (let n = 0; n < 150; n++) {
        expect(Object.keys(await run<object>(wide(n, 80)))).toHaveLength(80);
        most.push(await bytes());
      }
      expect(await prepared()).toBeGreaterThan(0);
      expect(Math.max(...most)).toBeLessThan(20_000_000);
    });
  });
});
