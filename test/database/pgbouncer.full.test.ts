import { Client } from 'pg';
import { fillShop } from '../helper/database';
import { type Gateway, startGatewayOn } from '../helper/gateway';
import { Load } from '../helper/load';
import { CAN_START_POSTGRES, PostgresServer } from '../helper/postgres-server';
import { isServed, mixed } from '../helper/traffic';
import { until } from '../helper/until';
import { CAN_START_PGBOUNCER, PgBouncer } from './pgbouncer';

const RENAME = 'mutation { updateCategory(id: 1, input: { name: "Hounds" }) { name } }';
/** Defaults of the server's sessions that would change what the gateway reads or writes. */
const HOSTILE = {
  timezone: 'Asia/Tokyo',
  datestyle: 'SQL, DMY',
  standard_conforming_strings: 'off',
  default_transaction_isolation: 'serializable',
};
const SETTINGS = ['jit', 'statement_timeout', 'lock_timeout', 'random_page_cost', ...Object.keys(HOSTILE)];

const onServers = CAN_START_POSTGRES && CAN_START_PGBOUNCER ? describe : describe.skip;

/** The pool modes that docs/postgresql.md names, and the parameters of DATABASE_URL in each of them. */
const MODES = [
  { mode: 'transaction', parameters: '?pgbouncer=true', poolSize: 9 },
  // Each connection of a client keeps a connection to the server.
  { mode: 'session', parameters: '', poolSize: 30 },
];

onServers.each(MODES)('behind PgBouncer with pool_mode = $mode', ({ mode, parameters, poolSize }) => {
  let postgres: PostgresServer;
  let pooler: PgBouncer;
  let gateway: Gateway;
  let direct: Client;
  beforeAll(async () => {
    postgres = await PostgresServer.start(HOSTILE);
    direct = await postgres.connect();
    pooler = await PgBouncer.start(postgres.url, { pool_mode: mode, default_pool_size: poolSize });
    gateway = await start();
    await fillShop(gateway.database);
  });
  afterAll(async () => {
    await gateway?.close();
    await direct?.end();
    await pooler?.remove();
    await postgres?.remove();
  });

  const start = () =>
    startGatewayOn(`${pooler.url}${parameters}`, { DATABASE_POOL_SIZE: '6', REQUEST_TIMEOUT_MS: '2000' });
  const connected = async () => {
    const client = new Client(pooler.url).on('error', () => undefined);
    await client.connect();
    return client;
  };

  test('two instances serve every request under load while another client uses the same PgBouncer', async () => {
    const second = await start();
    const loads = await Promise.all([gateway, second].map(async (each) => new Load(await each.listen(), 6, mixed)));
    const other = await connected();
    for (let i = 0; i < 100; i++) await other.query(`begin; select pg_sleep(0.00${i % 10}); commit`);
    await other.end();
    const tried = (await Promise.all(loads.map((load) => load.stop()))).flat();
    expect(tried.filter((one) => !isServed(one))).toEqual([]);
    expect(tried.length).toBeGreaterThan(200);
    await second.close();
  });

  test('times are read as they were written, in every time zone and date style of the server', async () => {
    const shipDate = '2026-12-24T23:30:00.125Z';
    const written = await gateway.data(`mutation { placeOrder(input: { shipDate: "${shipDate}" }) { id shipDate } }`);
    expect(written).toMatchObject({ placeOrder: { shipDate } });
    const id = String(written.placeOrder?.id);
    expect(await gateway.data(`{ order(id: ${id}) { shipDate } }`)).toEqual({ order: { shipDate } });
    const select = 'select extract(epoch from ship_date) * 1000 as time from orders where id = $1';
    const { rows } = await direct.query(select, [id]);
    expect(new Date(Number(rows[0].time)).toISOString()).toBe(shipDate);
  });

  test('a key is rejected once it has expired, in every date style of the server', async () => {
    const expiresAt = new Date(Date.now() + 1_000).toISOString();
    const { headers } = await gateway.createKey({ plan: 'ENTERPRISE', perMinute: 10, perDay: 10, expiresAt });
    const status = async () => (await gateway.server.inject({ url: '/pets', headers })).statusCode;
    expect(await status()).toBe(200);
    await until(async () => Date.now() > Date.parse(expiresAt));
    expect(await status()).toBe(401);
  });

  test('the gateway does not change the session settings of other clients', async () => {
    const select = `select ${SETTINGS.map((name) => `current_setting('${name}') as ${name}`).join()}`;
    const other = await connected();
    const seen = new Set<string>();
    for (let i = 0; i < 30; i++) {
      const [{ rows }] = await Promise.all([other.query(select), gateway.data('{ pets { totalCount } }')]);
      seen.add(JSON.stringify(rows[0]));
    }
    await other.end();
    expect([...seen]).toEqual([JSON.stringify((await direct.query(select)).rows[0])]);
  });

  test('a request over the time limit is cancelled, and the statements of other clients are not', async () => {
    const others = await Promise.all([1, 2, 3].map(connected));
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
      const { rows } = await direct.query("select from pg_stat_activity where wait_event_type = 'Lock'");
      return rows.length === 0;
    }, 3);
    await direct.query('rollback');
    expect(await Promise.all(sleeping)).toEqual(['slept', 'slept', 'slept']);
    await Promise.all(others.map((other) => other.end()));
    expect(await gateway.data('{ category(id: 1) { name } }')).toEqual({ category: { name: 'Dogs' } });
    expect(await gateway.data(RENAME)).toEqual({ updateCategory: { name: 'Hounds' } });
  });
});
