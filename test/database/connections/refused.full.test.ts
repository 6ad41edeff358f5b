import { Client } from 'pg';
import { createDatabase, TEST_DATABASE_URL } from '../../helper/database';
import { type Gateway, startGateway } from '../../helper/gateway';
import { until } from '../../helper/until';

const onPostgres = TEST_DATABASE_URL ? describe : describe.skip;

onPostgres('a database that accepts no connections (SQLSTATE 55000)', () => {
  let gateway: Gateway;
  let server: Client;
  let name: string;
  beforeAll(async () => {
    const created = await createDatabase();
    name = new URL(String(created.url)).pathname.slice(1);
    gateway = await startGateway({}, Date.now, created);
    server = new Client({ connectionString: TEST_DATABASE_URL });
    await server.connect();
  });
  afterAll(async () => {
    await accept(true);
    await gateway.close();
    await server.end();
  });

  async function accept(connections: boolean): Promise<void> {
    await server.query(`alter database ${name} with allow_connections ${connections}`);
    if (!connections)
      await server.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
  }

  const list = async () => (await gateway.app.inject({ url: '/pets' })).json();
  const create = async () =>
    (await gateway.app.inject({ method: 'POST', url: '/categories', payload: { name: 'Dogs' } })).json();
  const UNAVAILABLE = { code: 'SERVICE_UNAVAILABLE', status: 503 };

  test('is unavailable for reads and writes, and serves again once it accepts them', async () => {
    await create();
    await accept(false);
    // The first may still find the connections that break.
    for (let i = 0; i < 3; i++) {
      expect(await list()).toMatchObject(UNAVAILABLE);
      expect(await create()).toMatchObject(UNAVAILABLE);
      const { status, errors } = await gateway.graphql('{ pets { nodes { id } } }');
      expect([status, errors[0]?.extensions]).toMatchObject([200, UNAVAILABLE]);
    }
    await accept(true);
    await until(async () => Array.isArray(await list()));
    expect(await create()).toMatchObject({ name: 'Dogs' });
  });
});
