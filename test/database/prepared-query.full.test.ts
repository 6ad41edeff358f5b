import { Client } from 'pg';
import { PreparedQuery } from '../../src/database/prepared-query';
import { statement } from '../../src/database/statement';
import { TEST_DATABASE_URL } from '../helper/database';

const onPostgres = TEST_DATABASE_URL ? describe : describe.skip;

onPostgres('a prepared statement on PostgreSQL', () => {
  let client: Client;
  let descriptions = 0;
  beforeEach(async () => {
    client = new Client({ connectionString: TEST_DATABASE_URL });
    await client.connect();
    await client.query('create temporary table things (id int, name text)');
    await client.query("insert into things values (1, 'one'), (2, null)");
    descriptions = 0;
    const { connection } = client as unknown as { connection: NodeJS.EventEmitter };
    connection.on('rowDescription', () => {
      descriptions += 1;
    });
  });
  afterEach(() => client.end());

  const run = (text: string, ...values: unknown[]) =>
    new Promise<unknown[]>((resolve, reject) => {
      client.query(new PreparedQuery(statement(text), values), (error, { rows } = { rows: [] } as never) =>
        error ? reject(error) : resolve(rows),
      );
    });
  const THING = 'select id, name from things where id = $1';

  test('is described on its first run only', async () => {
    const rows = [];
    for (const id of [1, 2, 3, 1]) rows.push(await run(THING, id));
    expect(rows).toEqual([[{ id: 1, name: 'one' }], [{ id: 2, name: null }], [], [{ id: 1, name: 'one' }]]);
    expect(descriptions).toBe(1);
  });

  test('has its own columns, whatever ran before it on the connection', async () => {
    const both = async () => [
      await run(THING, 1),
      await run('select $1::text as word', 'w'),
      await run(THING, 2),
    ];
    const expected = [[{ id: 1, name: 'one' }], [{ word: 'w' }], [{ id: 2, name: null }]];
    expect(await both()).toEqual(expected);
    expect(await both()).toEqual(expected);
  });

  test('is refused, not misread, once its columns have changed', async () => {
    await run(THING, 1);
    await client.query('alter table things alter name type int using length(name)');
    await expect(run(THING, 1)).rejects.toMatchObject({ code: '0A000' });
    expect(await run(`${THING} limit 1`, 1)).toEqual([{ id: 1, name: 3 }]);
  });

  test('is kept with hundreds of others, but not with all there ever were', async () => {
    for (let n = 0; n < 1300; n++)
      expect(await run(`select $1::int as n${n}`, n)).toEqual([{ [`n${n}`]: n }]);
    const { rows } = await client.query('select count(*)::int as kept from pg_prepared_statements');
    expect(rows[0].kept).toBeGreaterThan(100);
    expect(rows[0].kept).toBeLessThan(600);
    for (const n of [0, 1299, 0]) expect(await run(`select $1::int as n${n}`, n)).toEqual([{ [`n${n}`]: n }]);
  });

  test('that fails on its first run is described on the next', async () => {
    const half = 'select 10 / $1::int as half';
    await expect(run(half, 0)).rejects.toMatchObject({ code: '22012' });
    expect(await run(half, 2)).toEqual([{ half: 5 }]);
    await expect(run(half, 0)).rejects.toMatchObject({ code: '22012' });
    expect(await run(half, 5)).toEqual([{ half: 2 }]);
  });
});
