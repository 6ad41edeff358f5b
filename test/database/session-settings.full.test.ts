import { Client } from 'pg';
import { fillShop } from '../helper/database';
import { type Gateway, startGatewayOn } from '../helper/gateway';
import { CAN_START_POSTGRES, PostgresServer } from '../helper/postgres-server';

/** Settings of sessions that would change what the gateway reads or writes, or interrupt its statements. */
const HOSTILE: Readonly<Record<string, string>> = {
  datestyle: 'SQL, DMY',
  timezone: 'Asia/Tokyo',
  intervalstyle: 'sql_standard',
  bytea_output: 'escape',
  extra_float_digits: '-15',
  standard_conforming_strings: 'off',
  client_encoding: 'LATIN1',
  quote_all_identifiers: 'on',
  default_transaction_isolation: 'serializable',
  default_transaction_deferrable: 'on',
  lock_timeout: '50ms',
  statement_timeout: '500ms',
  idle_in_transaction_session_timeout: '500ms',
};
const OPTIONS = Object.entries(HOSTILE)
  .map(([name, value]) => `-c ${name}=${value.replaceAll(' ', '\\ ')}`)
  .join(' ');

const CREATE = 'mutation ($input: NewApiKey!) { createApiKey(input: $input) { apiKey { expiresAt } } }';
/** A plan whose quota the start of another test gateway may raise. */
const QUOTA = { plan: 'ENTERPRISE', perMinute: 100, perDay: 100 };
const PLACE = 'mutation { placeOrder(input: { petId: 1, quantity: 1 }) { id } }';

const onServer = CAN_START_POSTGRES ? describe : describe.skip;

onServer('regardless of the default settings of a session', () => {
  let postgres: PostgresServer;
  let direct: Client;
  beforeAll(async () => {
    postgres = await PostgresServer.start({});
    direct = await postgres.connect();
    await direct.query('create role shop login superuser');
  });
  afterAll(async () => {
    await direct?.end();
    await postgres?.remove();
  });

  const setAll = async (what: string) => {
    for (const [name, value] of Object.entries(HOSTILE)) await direct.query(`alter ${what} set ${name} to '${value}'`);
  };
  /** Where the settings are made; with a function that makes them for a database, and returns the URL for the gateway. */
  const SOURCES: readonly (readonly [string, (name: string) => Promise<string>])[] = [
    [
      'of the database',
      async (name) => {
        await setAll(`database ${name}`);
        return urlOf(name);
      },
    ],
    [
      'of the role',
      async (name) => {
        await setAll('role shop');
        return urlOf(name).replace('postgres@', 'shop@');
      },
    ],
    ['in the URL', async (name) => `${urlOf(name)}?options=${encodeURIComponent(OPTIONS)}`],
    [
      'in PGOPTIONS',
      async (name) => {
        process.env.PGOPTIONS = OPTIONS;
        return urlOf(name);
      },
    ],
  ];
  const urlOf = (name: string) => Object.assign(new URL(postgres.url), { pathname: `/${name}` }).href;

  describe.each(SOURCES)('%s,', (source, prepare) => {
    const name = source.replaceAll(' ', '_').toLowerCase();
    let url: string;
    let gateway: Gateway;
    beforeAll(async () => {
      await direct.query(`create database ${name}`);
      url = await prepare(name);
      gateway = await startGatewayOn(url);
      await fillShop(gateway.database);
    });
    afterAll(async () => {
      await gateway?.close();
      delete process.env.PGOPTIONS;
    });

    const status = async (headers: Record<string, string>, on = gateway) =>
      (await on.server.inject({ url: '/pets', headers })).statusCode;

    test('the gateway starts again, and two more instances at the same time', async () => {
      const instances = await Promise.all([startGatewayOn(url), startGatewayOn(url)]);
      const { headers } = await gateway.createKey(QUOTA);
      for (const each of instances) expect(await status(headers, each)).toBe(200);
      await Promise.all(instances.map((each) => each.close()));
    });

    test('keys that have expired, are revoked, or were replaced by a rotation are rejected', async () => {
      const expiresAt = new Date(Date.now() + 1_500).toISOString();
      const [expiring, revoked, rotated] = [
        await gateway.createKey({ ...QUOTA, expiresAt }),
        await gateway.createKey(QUOTA),
        await gateway.createKey(QUOTA),
      ];
      const keys = [expiring, revoked, rotated];
      expect(await Promise.all(keys.map(({ headers }) => status(headers)))).toEqual([200, 200, 200]);
      await gateway.data('mutation ($id: ID!) { revokeApiKey(id: $id) { id } }', { id: revoked.id });
      await gateway.data('mutation ($id: ID!) { rotateApiKey(id: $id, graceSeconds: 1) { secret } }', {
        id: rotated.id,
      });
      await new Promise((resolve) => setTimeout(resolve, 1_600));
      const other = await startGatewayOn(url);
      for (const on of [gateway, other])
        expect(await Promise.all(keys.map(({ headers }) => status(headers, on)))).toEqual([401, 401, 401]);
      await other.close();
    });

    test('dates and texts are read as they were written', async () => {
      const expiresAt = '2099-11-12T23:30:00.125Z';
      const { createApiKey } = await gateway.data(CREATE, { input: { name: 'test', expiresAt } });
      expect(createApiKey?.apiKey).toEqual({ expiresAt });
      const { headers } = await gateway.createKey({ ...QUOTA, expiresAt });
      expect((await gateway.graphql('{ viewer { apiKey { expiresAt } } }', {}, headers)).data).toEqual({
        viewer: { apiKey: { expiresAt } },
      });
      const name = "Bello 🐶 \\ 'x'";
      await gateway.data('mutation ($name: String!) { createPet(input: { name: $name, categoryId: 1 }) { id } }', {
        name,
      });
      const found = await gateway.data('query ($name: String!) { pets(filter: { name: $name }) { nodes { name } } }', {
        name: '🐶 \\',
      });
      expect(found).toEqual({ pets: { nodes: [{ name }] } });
    });

    test('a repeated request with an idempotency key gets the stored response', async () => {
      const send = () => gateway.graphql(PLACE, {}, { 'idempotency-key': 'once' });
      const [first, second] = [await send(), await send()];
      expect(second.data).toEqual(first.data);
      expect(second.headers['idempotent-replayed']).toBe('true');
    });

    test('concurrent orders sell exactly the stock', async () => {
      await gateway.data('mutation { setInventory(petId: 1, input: { quantity: 10 }) { quantity } }');
      const answers = await Promise.all(Array.from({ length: 20 }, () => gateway.graphql(PLACE)));
      const codes = answers.map(({ errors }) => errors[0]?.extensions?.code ?? 'sold').sort();
      expect(codes).toEqual([...Array(10).fill('INSUFFICIENT_STOCK'), ...Array(10).fill('sold')]);
    });

    test('a write waits for a lock longer than the time limits of the session', async () => {
      const blocker = new Client(urlOf(name));
      await blocker.connect();
      await blocker.query('set idle_in_transaction_session_timeout to 0; begin; lock table pets');
      const waiting = gateway.data('mutation { createPet(input: { name: "Rex", categoryId: 1 }) { name } }');
      await new Promise((resolve) => setTimeout(resolve, 800));
      await blocker.query('rollback');
      await blocker.end();
      expect(await waiting).toEqual({ createPet: { name: 'Rex' } });
    });
  });
});
