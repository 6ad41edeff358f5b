import { spawnSync } from 'node:child_process';
import { Client } from 'pg';
import { openDatabase } from '../../src/database/open';
import { Server } from '../../src/postgres/database-server';
import { findPooler } from '../../src/postgres/pooler';
import { createDatabase, fillShop, TEST_DATABASE_URL } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';
import { Load } from '../helper/load';
import { PGBOUNCERS, PgBouncer } from '../helper/pgbouncer';
import { isServed, mixed } from '../helper/traffic';
import { until } from '../helper/until';

const REQUEST_TIMEOUT_MS = 2000;
const RENAME = 'mutation { updateCategory(id: 1, input: { name: "Hounds" }) { name } }';

const onPooler = TEST_DATABASE_URL && PGBOUNCERS.length ? describe : describe.skip;
const binaries = PGBOUNCERS.map((binary) => [versionOf(binary), binary] as const);

onPooler.each(binaries.length ? binaries : [['PgBouncer', '']])(
  'through %s, which pools transactions',
  (name, binary) => {
    let home: Awaited<ReturnType<typeof createDatabase>>;
    let pooler: PgBouncer;
    let gateway: Gateway;
    let direct: Client;
    beforeAll(async () => {
      home = await createDatabase();
      // Statements can be prepared by name from 1.21 on.
      const prepares = name.includes(' 1.18') ? undefined : { max_prepared_statements: 200 };
      pooler = await PgBouncer.start(binary, home.url ?? '', {
        pool_mode: 'transaction',
        default_pool_size: 9,
        ...prepares,
      });
      direct = await connected(home.url ?? '');
      // Where a time zone that is not kept shows.
      await direct.query(`alter database ${direct.database} set timezone to 'Asia/Tokyo'`);
      gateway = await startOn(pooler.url);
      await fillShop(home.database);
    });
    afterAll(async () => {
      await direct?.query(`alter database ${direct.database} reset timezone`);
      await direct?.end();
      await gateway?.close();
      await pooler?.remove();
      await home?.drop();
    });

    const startOn = async (url: string): Promise<Gateway> => {
      const database = await openDatabase({ url, directory: '', poolSize: 6, requestTimeoutMs: REQUEST_TIMEOUT_MS });
      const settings = { REQUEST_TIMEOUT_MS: String(REQUEST_TIMEOUT_MS) };
      return startGateway(settings, Date.now, { database, drop: () => database.close() });
    };

    test('it starts, and says so', () => {
      expect(gateway.database.description).toMatch(/, through a pooler of transactions$/);
    });

    test('whether it keeps statements is found out, however often it was asked before', async () => {
      const found = [];
      for (let i = 0; i < 12; i++) found.push((await findPooler(new Server(pooler.url)))?.keepsStatements);
      expect(found).toEqual(Array(12).fill(!name.includes(' 1.18')));
    });

    test('two instances and another client serve every request under load', async () => {
      const second = await startOn(pooler.url);
      const loads = await Promise.all([gateway, second].map(async (each) => new Load(await each.listen(), 6, mixed)));
      const other = await connected(pooler.url);
      for (let i = 0; i < 100; i++) await other.query(`begin; select pg_sleep(0.00${i % 10}); commit`);
      await other.end();
      const tried = (await Promise.all(loads.map((load) => load.stop()))).flat();
      expect(tried.filter((one) => !isServed(one))).toEqual([]);
      expect(tried.length).toBeGreaterThan(200);
      await second.close();
    });

    test('times are those that were written', async () => {
      const shipDate = '2026-12-24T23:30:00.125Z';
      const written = await gateway.data(`mutation { placeOrder(input: { shipDate: "${shipDate}" }) { id shipDate } }`);
      expect(written).toMatchObject({ placeOrder: { shipDate } });
      const { id } = written.placeOrder as unknown as { id: string };
      expect(await gateway.data(`{ order(id: ${id}) { shipDate } }`)).toEqual({ order: { shipDate } });
      const { rows } = await direct.query('select ship_date from orders where id = $1', [id]);
      expect(rows[0].ship_date.toISOString()).toBe(shipDate);
    });

    test("other clients' sessions keep their own settings", async () => {
      const other = await connected(pooler.url);
      const settings =
        "current_setting('jit') || current_setting('statement_timeout') || current_setting('random_page_cost')";
      const seen = new Set<string>();
      for (let i = 0; i < 30; i++) {
        const [{ rows }] = await Promise.all([
          other.query(`select ${settings} || current_setting('timezone') as all`),
          gateway.data('{ pets { totalCount } }'),
        ]);
        seen.add(rows[0].all);
      }
      await other.end();
      const { rows } = await direct.query(`select ${settings} || 'Asia/Tokyo' as all`);
      expect([...seen]).toEqual([rows[0].all]);
    });

    test("a request that takes too long is cancelled, and nobody else's statement is", async () => {
      const others = await Promise.all([1, 2, 3].map(() => connected(pooler.url)));
      await direct.query('begin; lock table categories in access exclusive mode');
      const sleeping = others.map((other) => other.query('select pg_sleep(4)').then(() => 'slept', String));
      const answers = await Promise.all([
        gateway.graphql(RENAME),
        gateway.graphql(RENAME),
        gateway.graphql('{ category(id: 1) { name } }'),
      ]);
      expect(answers.map(({ errors }) => errors[0]?.extensions?.code)).toEqual(Array(3).fill('SERVICE_UNAVAILABLE'));
      await until(async () => {
        await direct.query('select pg_stat_clear_snapshot()');
        const { rows } = await direct.query(
          "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        );
        return rows.length === 0;
      }, 3);
      await direct.query('rollback');
      expect(await Promise.all(sleeping)).toEqual(['slept', 'slept', 'slept']);
      await Promise.all(others.map((other) => other.end()));
      expect(await gateway.data('{ category(id: 1) { name } }')).toEqual({ category: { name: 'Dogs' } });
      expect(await gateway.data(RENAME)).toEqual({ updateCategory: { name: 'Hounds' } });
    });
  },
);

onPooler('through a PgBouncer', () => {
  test.each([
    ['that pools sessions, it is as on the server itself', { pool_mode: 'session' }],
    ['that has one connection for all, it serves', { pool_mode: 'transaction', default_pool_size: 1 }],
  ])('%s', async (_what, settings) => {
    const home = await createDatabase();
    const pooler = await PgBouncer.start(PGBOUNCERS[0] ?? '', home.url ?? '', settings);
    const database = await openDatabase({ url: pooler.url, directory: '' });
    const gateway = await startGateway({}, Date.now, { database, drop: () => database.close() });
    await fillShop(home.database);
    const found = await Promise.all(Array.from({ length: 20 }, () => gateway.data('{ pet(id: 1) { name } }')));
    expect(new Set(found.map(({ pet }) => String(pet?.name)))).toEqual(new Set(['Rex']));
    expect(database.description.includes('pooler')).toBe(settings.pool_mode !== 'session');
    await gateway.close();
    await pooler.remove();
    await home.drop();
  });

  test('that pools statements, it does not start, and says why in one line', async () => {
    const home = await createDatabase();
    const pooler = await PgBouncer.start(PGBOUNCERS[0] ?? '', home.url ?? '', { pool_mode: 'statement' });
    await expect(openDatabase({ url: pooler.url, directory: '' })).rejects.toThrow(
      /^PostgreSQL at \S+ cannot be opened: transaction blocks not allowed in statement pooling mode$/,
    );
    await pooler.remove();
    await home.drop();
  });
});

async function connected(connectionString: string): Promise<Client> {
  const client = new Client({ connectionString }).on('error', () => undefined);
  await client.connect();
  return client as Client;
}

/** `PgBouncer 1.18.0` */
function versionOf(binary: string): string {
  return spawnSync(binary, ['-V'], { encoding: 'utf8' }).stdout.split('\n')[0] ?? binary;
}
