import { Client } from 'pg';
import { openDatabase } from '../../src/database/open';
import { createDatabase, TEST_DATABASE_URL } from '../helper/database';
import { ADMIN_KEY, type Gateway, startGateway } from '../helper/gateway';
import { CAN_START_POSTGRES, PostgresServer } from '../helper/postgres-server';
import { until } from '../helper/until';
import { ask } from '../http/client';

const onPostgres = TEST_DATABASE_URL ? describe : describe.skip;

onPostgres('a database with', () => {
  let admin: Client;
  beforeAll(async () => {
    admin = new Client({ connectionString: TEST_DATABASE_URL });
    await admin.connect();
  });
  afterAll(() => admin.end());

  /** Creates a database. @returns its URL and a function that drops it. */
  async function create(options: string): Promise<{ url: string; drop(): Promise<unknown> }> {
    const name = `petstore_odd_${process.pid}`;
    await admin.query(`create database ${name} template template0 ${options}`);
    const url = Object.assign(new URL(TEST_DATABASE_URL ?? ''), { pathname: `/${name}` }).href;
    return { url, drop: () => admin.query(`drop database ${name} with (force)`) };
  }

  test.each(['SQL_ASCII', 'LATIN1', 'WIN1252', 'EUC_JP'])('the encoding %s is refused', async (encoding) => {
    const { url, drop } = await create(`encoding '${encoding}' lc_collate 'C' lc_ctype 'C'`);
    try {
      await expect(openDatabase({ url, directory: '' })).rejects.toThrow(
        new RegExp(
          `cannot be opened: its encoding is ${encoding}, .*DATABASE_URL.*encoding 'UTF8' template template0$`,
        ),
      );
    } finally {
      await drop();
    }
  });

  test.each([
    ['C', 1],
    ['C.UTF-8', 0],
  ])('LC_CTYPE %s is accepted, with %i warnings', async (ctype, count) => {
    const { url, drop } = await create(`encoding 'UTF8' lc_collate 'C' lc_ctype '${ctype}'`);
    const lines: string[] = [];
    try {
      const database = await openDatabase({ url, directory: '', report: (line) => lines.push(line) });
      await database.close();
      expect(lines).toEqual(Array(count).fill(expect.stringMatching(/LC_CTYPE of the database in DATABASE_URL is C/)));
    } finally {
      await drop();
    }
  });
});

const onOwnServer = CAN_START_POSTGRES ? describe : describe.skip;

onOwnServer('on a server that asks for a password,', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start({ password_encryption: 'scram-sha-256' });
    await server.query("create role shop login password 'a/b?c#d%e'");
    await server.requirePasswords('shop');
  });
  afterAll(() => server.remove());
  afterEach(() => {
    delete process.env.PGPASSWORD;
  });

  const url = (credentials: string) => server.url.replace('postgres@', `${credentials}@`);

  test.each([
    ['without a password', 'shop', /it asks for a password\. Add it to DATABASE_URL .*, or set PGPASSWORD\.$/],
    ['with an empty password', 'shop:', /it asks for a password\./],
    [
      'with a wrong password',
      'shop:wrong',
      /password authentication failed for user "shop"\. .*DATABASE_URL.*PGPASSWORD/,
    ],
  ])('a start %s fails with one line that names the setting', async (_what, credentials, line) => {
    await expect(openDatabase({ url: url(credentials), directory: '' })).rejects.toThrow(line);
  });

  test('the password may come from PGPASSWORD, without an encoding', async () => {
    process.env.PGPASSWORD = 'a/b?c#d%e';
    const opened = openDatabase({ url: url('shop'), directory: '' });
    // The password is correct: the role only lacks the privilege to create tables.
    await expect(opened).rejects.toThrow(/permission denied|Grant the role/);
  });
});

onPostgres('while the gateway runs,', () => {
  let home: Awaited<ReturnType<typeof createDatabase>>;
  let gateway: Gateway;
  let direct: Client;
  /** The connections that the gateway has opened. */
  let opened: Client[];
  /** The number of calls of {@link sendAll}. */
  let rounds: number;
  beforeEach(async () => {
    opened = jest.spyOn(Client.prototype, 'connect').mock.contexts as Client[];
    rounds = 0;
    home = await createDatabase();
    gateway = await startGateway({}, Date.now, home);
    direct = new Client({ connectionString: home.url });
    await direct.connect();
    await ask(gateway, 'POST /categories', { body: { name: 'Dogs' } });
    await ask(gateway, 'POST /pets', { body: { name: 'Rex', categoryId: 1 } });
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await direct.end();
    await gateway.close();
  });

  const READS = [
    'GET /pets/1',
    'GET /pets',
    '{ pets { nodes { name category { name } } } }',
    '{ pet(id: 1) { name } }',
  ];
  const WRITES = [
    'mutation { updatePet(id: 1, input: { status: sold }) { name } }',
    'mutation { updateCategory(id: 1, input: { name: "Cats" }) { name } }',
    'mutation { createPet(input: { name: "Bello", categoryId: 1 }) { name } }',
    'mutation { placeOrder(input: { petId: 1, quantity: 1 }) { id } }',
    'mutation { setInventory(petId: 1, input: { quantity: 1000 }) { quantity } }',
  ];
  const statusOf = async (on: string) => {
    const { status, error } = await ask(gateway, on, { headers: { 'x-api-key': ADMIN_KEY } });
    return error?.status ?? status;
  };

  /** Each operation is sent this often at once. */
  const AT_ONCE = 3;
  /** Sends all operations, and creations with idempotency keys. @returns the statuses of the responses. */
  async function sendAll(): Promise<Set<number>> {
    rounds++;
    const sent = Array.from({ length: AT_ONCE }, async (_, index) => {
      const name = `Once ${rounds} ${index}`;
      const headers = { 'x-api-key': ADMIN_KEY, 'idempotency-key': `once-${rounds}-${index}` };
      const created = ask(gateway, 'POST /pets', { body: { name, categoryId: 1 }, headers });
      return [...(await Promise.all([...READS, ...WRITES].map(statusOf))), (await created).status];
    });
    return new Set((await Promise.all(sent)).flat());
  }
  const SERVED = new Set([200, 201]);

  /** Expects one order and one pet for each request that creates one. */
  async function expectEachWriteOnce(): Promise<void> {
    const count = async (rows: string) => (await direct.query(`select count(*)::int as n from ${rows}`)).rows[0].n;
    expect(await count('orders')).toBe(rounds * AT_ONCE);
    expect(await count("pets where name like 'Once%'")).toBe(rounds * AT_ONCE);
  }

  test('a change of the type of a column fails no request and repeats no write, although each connection has prepared statements', async () => {
    for (let round = 0; round < 3; round++) await sendAll();
    for (const type of ['varchar(20000)', 'text']) {
      for (const column of ['pets.name', 'categories.name', 'orders.owner', 'events.actor', 'idempotency_keys.answer'])
        await direct.query(`alter table ${column.replace('.', ' alter column ')} type ${type}`);
      expect(await sendAll()).toEqual(SERVED);
      expect(await sendAll()).toEqual(SERVED);
    }
    await expectEachWriteOnce();
  });

  test('prepared statements that all connections have lost fail no request and repeat no write', async () => {
    for (let round = 0; round < 3; round++) await sendAll();
    const lost = await Promise.allSettled(opened.map((client) => client.query('deallocate all')));
    expect(lost.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(5);
    expect(await sendAll()).toEqual(SERVED);
    expect(await statusOf('GET /readyz')).toBe(200);
    await expectEachWriteOnce();
  });

  test('connections that an administrator has closed cause no internal error', async () => {
    for (let round = 0; round < 2; round++) for (const on of [...READS, ...WRITES]) await statusOf(on);
    await direct.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()',
    );
    const statuses = [];
    for (const on of [...READS, ...WRITES]) statuses.push(await statusOf(on));
    expect(statuses.filter((status) => status === 500)).toEqual([]);
  });

  const PET_FAILS = ['GET /pets/1', ...WRITES.filter((on) => on.includes('Pet'))];
  test.each([
    ['table', 'alter table pets rename to away', 'alter table away rename to pets', '42P01', PET_FAILS],
    ['column', 'alter table pets rename name to title', 'alter table pets rename title to name', '42703', PET_FAILS],
    [
      'column of events',
      'alter table events rename actor to who',
      'alter table events rename who to actor',
      '42703',
      WRITES,
    ],
  ])('a missing %s is an outage: 503, and not ready', async (_what, break_, repair, code, fails) => {
    const ready = async () => (await ask(gateway, 'GET /readyz')).error;
    expect(await ready()).toBeUndefined();
    await direct.query(break_);
    try {
      for (const on of fails) expect([on, await statusOf(on)]).toEqual([on, 503]);
      await until(async () => (await ready()) !== undefined, 2);
      expect((await ready())?.message).toBe(`Not ready: the database rejects statements (SQLSTATE ${code}).`);
    } finally {
      await direct.query(repair);
    }
    for (const on of ['GET /pets/1', ...WRITES]) expect([on, await statusOf(on)]).toEqual([on, 200]);
    await until(async () => (await ready()) === undefined, 2);
  });
});
