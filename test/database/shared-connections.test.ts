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
    await until(async () => new Set(await all(20, pid)).size <= 2);
  });
  afterEach(() => database.close());

  const read = async <Row>(text: string, ...values: unknown[]) =>
    (await database.query<Row>(statement(text), values, 'read'))[0] as Row;
  const pid = async () => (await read<{ pid: number }>('select pg_backend_pid() as pid')).pid;
  const echo = async (i: number) => (await read<{ i: number }>('select $1::int as i', i)).i;
  const all = <T>(count: number, one: (i: number) => Promise<T>) =>
    Promise.all(Array.from({ length: count }, (_, i) => one(i)));

  test('of one turn of the event loop share a connection, and each gets its own answer', async () => {
    expect(new Set(await all(100, pid)).size).toBe(1);
    expect(await all(100, echo)).toEqual(Array.from({ length: 100 }, (_, i) => i));
  });

  test('count as connections', async () => {
    const busy = all(4, () => read('select pg_sleep(0.2)'));
    await until(async () => database.load?.idle !== database.load?.total);
    expect(database.load?.total).toBeLessThanOrEqual(10);
    await busy;
    expect(database.load?.idle).toBe(database.load?.total);
  });

  test('do not wait behind one that takes its time', async () => {
    const done: string[] = [];
    const slow = all(2, () => read('select pg_sleep(0.6)')).then(() => done.push('slow'));
    await new Promise((resolve) => setTimeout(resolve, 100));
    const quick = all(20, echo).then(() => done.push('quick'));
    await Promise.all([slow, quick]);
    expect(done).toEqual(['quick', 'slow']);
  });

  test('that fail take none of the others with them', async () => {
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

  test('that lose their connection are read again on another one', async () => {
    const shared = await pid();
    const slow = all(
      10,
      async (i) => (await read<{ i: number }>('select $1::int as i, pg_sleep(0.05)', i)).i,
    );
    await home.database.query(statement('select pg_terminate_backend($1)'), [shared]);
    expect(await slow).toEqual(Array.from({ length: 10 }, (_, i) => i));
    await until(async () => new Set(await all(20, pid)).size === 1);
  });

  test('that run into the time limit of statements are not run a second time', async () => {
    await database.close();
    database = await openDatabase({ url: home.url, directory: '', poolSize: 10, requestTimeoutMs: 400 });
    await until(async () => new Set(await all(20, pid)).size === 1);
    const begun = performance.now();
    await expect(read('select pg_sleep(5)')).rejects.toMatchObject({ code: '57014' });
    expect(performance.now() - begun).toBeLessThan(700);
  });

  describe('writes', () => {
    const write = async <Row>(text: string) =>
      (await database.query<Row>(statement(text), [], 'write'))[0] as Row;
    const writer = async () => (await write<{ pid: number }>('select pg_backend_pid() as pid')).pid;
    beforeEach(() => until(async () => new Set(await all(20, writer)).size === 1));

    test('share connections of their own, so that no read waits for them', async () => {
      const writers = new Set(await all(20, writer));
      for (const reader of await all(20, pid)) expect(writers).not.toContain(reader);
    });

    test('that are slow to commit spread over all connections', async () => {
      const commits = (count: number) => all(count, () => write('select pg_sleep(0.02)'));
      await commits(16);
      const begun = performance.now();
      await commits(16);
      // One after the other they would take 320 ms.
      expect(performance.now() - begun).toBeLessThan(200);
    });

    test('are not run again when their connection is lost', async () => {
      await write('create table runs (id int)');
      const lost = write('insert into runs select 1 from pg_sleep(0.5)');
      await new Promise((resolve) => setTimeout(resolve, 100));
      const [{ pid } = { pid: 0 }] = await home.database.query<{ pid: number }>(
        statement("select pid from pg_stat_activity where query like 'insert into runs%'"),
        [],
      );
      await home.database.query(statement('select pg_terminate_backend($1)'), [pid]);
      await expect(lost).rejects.toThrow('terminat');
      await new Promise((resolve) => setTimeout(resolve, 600));
      expect(await write('select count(*)::int as count from runs')).toEqual({ count: 0 });
    });
  });
});
