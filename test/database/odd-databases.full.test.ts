import { Client } from 'pg';
import { openDatabase } from '../../src/database/open';
import { createDatabase, TEST_DATABASE_URL } from '../helper/database';
import { ADMIN_KEY, type Gateway, startGateway } from '../helper/gateway';
import { CAN_START_POSTGRES, PostgresServer } from '../helper/postgres-server';
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
    // The password is right: the role only lacks the right to create tables.
    await expect(opened).rejects.toThrow(/permission denied|Grant the role/);
  });
});

onPostgres('while the gateway runs,', () => {
  let home: Awaited<ReturnType<typeof createDatabase>>;
  let gateway: Gateway;
  let direct: Client;
  beforeEach(async () => {
    home = await createDatabase();
    gateway = await startGateway({}, Date.now, home);
    direct = new Client({ connectionString: home.url });
    await direct.connect();
    await ask(gateway, 'POST /categories', { body: { name: 'Dogs' } });
    await ask(gateway, 'POST /pets', { body: { name: 'Rex', categoryId: 1 } });
  });
  afterEach(async () => {
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
  ];
  const statusOf = async (on: string) => {
    const { status, error } = await ask(gateway, on, { headers: { 'x-api-key': ADMIN_KEY } });
    return error?.status ?? status;
  };

  test('a change of the type of a column fails no request, although each connection has prepared statements', async () => {
    const all = [...READS, ...WRITES];
    for (let round = 0; round < 3; round++) await Promise.all(all.flatMap((on) => [on, on, on]).map(statusOf));
    for (const type of ['varchar(300)', 'text']) {
      await direct.query(`alter table pets alter column name type ${type}`);
      await direct.query(`alter table categories alter column name type ${type}`);
      const statuses = await Promise.all(all.flatMap((on) => [on, on, on]).map(statusOf));
      for (const on of all) statuses.push(await statusOf(on));
      expect(new Set(statuses)).toEqual(new Set([200]));
    }
  });

  test('prepared statements that a pooler or an administrator has dropped fail no request', async () => {
    for (let round = 0; round < 2; round++) for (const on of [...READS, ...WRITES]) await statusOf(on);
    await direct.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()',
    );
    const statuses = [];
    for (const on of [...READS, ...WRITES]) statuses.push(await statusOf(on));
    expect(statuses.filter((status) => status === 500)).toEqual([]);
  });

  test.each([
    ['a missing table', 'alter table pets rename to pets_away', 'alter table pets_away rename to pets', '42P01'],
    ['a missing column', 'alter table pets rename name to title', 'alter table pets rename title to name', undefined],
  ])('%s is an outage: 503, and not ready', async (_what, break_, repair, code) => {
    const ready = async () => (await ask(gateway, 'GET /readyz')).error;
    expect(await ready()).toBeUndefined();
    await direct.query(break_);
    try {
      expect(await statusOf('GET /pets/1')).toBe(503);
      expect(await statusOf(WRITES[0] as string)).toBe(503);
      if (code) {
        await new Promise((resolve) => setTimeout(resolve, 600));
        expect((await ready())?.message).toBe(`Not ready: the database rejects statements (SQLSTATE ${code}).`);
      }
    } finally {
      await direct.query(repair);
    }
    expect(await statusOf('GET /pets/1')).toBe(200);
  });
});
