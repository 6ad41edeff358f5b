import { createHash } from 'node:crypto';
import { statement } from '../../src/database/statement';
import { createDatabase } from '../helper/database';
import { ADMIN_KEY, type Gateway, startGateway, type TestKey } from '../helper/gateway';
import { Installation } from '../helper/installation';
import { socketClient } from '../helper/live';
import { until } from '../helper/until';
import { IdentityProvider } from './identity-provider';

/** A key's secret, and every encoding of its hash that could leak. */
function spellings(whole: string): string[] {
  const secret = whole.slice(-32);
  const hash = createHash('sha256').update(secret).digest();
  return [
    secret,
    hash.toString('hex'),
    hash.toString('base64').slice(0, 40),
    hash.toString('base64url').slice(0, 40),
    [...hash].join(','),
  ];
}

function expectNone(whole: string, text: string): void {
  for (const spelling of spellings(whole)) expect(text).not.toContain(spelling);
}

const wrongOf = (whole: string) => `${whole.slice(0, -1)}${whole.endsWith('a') ? 'b' : 'a'}`;

describe('in the application', () => {
  let gateway: Gateway;
  let key: TestKey;
  beforeAll(async () => {
    gateway = await startGateway();
    key = await gateway.createKey();
  });
  afterAll(() => gateway.close());

  test('no table contains the secret of a key, and only the table api_keys contains its hash', async () => {
    await gateway.app.inject({ url: '/pets', headers: key.headers });
    const select = (sql: string) => gateway.database.serviceSession().query<{ text: string }>(statement(sql), []);
    const tables = await select(`select quote_ident(table_schema) || '.' || quote_ident(table_name) as text
      from information_schema.tables
      where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`);
    const [secret = '', hash = ''] = spellings(key.whole);
    const found: string[] = [];
    for (const { text: name } of tables) {
      const rows = (await select(`select t::text as text from ${name} t`)).map(({ text }) => text).join('\n');
      if (rows.includes(secret)) found.push(`${name}: the secret`);
      if (rows.includes(hash)) found.push(`${name}: its hash`);
    }
    expect(found).toEqual(['public.api_keys: its hash']);
  });

  test('after a key is created, no response contains the secret of the key or the hash of the secret', async () => {
    const fields = 'id name plan scopes perMinute perDay expiresAt revokedAt lastUsedAt createdAt bannedUntil';
    const id = `id: "${key.id}"`;
    const { whole, headers } = key;
    const post = (payload: string | object, more: object = {}) => ({
      method: 'POST' as const,
      url: '/graphql',
      headers: { 'content-type': 'application/json', ...more },
      payload,
    });
    const query = (text: string, more?: object) => post({ query: text }, more);
    for (const request of [
      query(`{ apiKeys(first: 100) { nodes { ${fields} } } }`),
      query(`mutation { updateApiKey(${id}, input: { name: "renamed" }) { ${fields} } }`),
      query(`{ viewer { apiKey { ${fields} } } }`, headers),
      query('{ apiKeys { totalCount } }', headers),
      query(`mutation { rotateApiKey(${id}) { apiKey { ${fields} } } }`),
      query('{ apiKeys { nodes { secretHash previousSecretHash secret } } }'),
      query('{ pets { totalCount } }', { 'x-api-key': `${whole}x` }),
      query('{ pets { totalCount } }', { authorization: `Basic ${whole}` }),
      query('{', headers),
      post('{', headers),
      { url: '/nothing', headers },
      { url: '/pets?limit=0', headers },
      { url: '/pets', headers: { 'x-api-key': wrongOf(whole) } },
      { method: 'PUT' as const, url: '/pets', headers },
      query(`mutation { revokeApiKey(${id}) { ${fields} } }`),
      query('{ pets { totalCount } }', headers),
    ]) {
      const response = await gateway.app.inject(request);
      expectNone(whole, response.payload + JSON.stringify(response.headers));
    }
  });
});

test('the output of the process contains no secret, no hash of a secret, and no header with a key', async () => {
  const database = process.env.TEST_DATABASE_URL ? await createDatabase() : undefined;
  const provider = await IdentityProvider.start();
  const installation = new Installation({
    JWT_ISSUER: provider.issuer,
    JWT_AUDIENCE: 'shop',
    LOG_LEVEL: 'trace',
    NODE_ENV: 'production',
    ADMIN_API_KEY: ADMIN_KEY,
    ...(database?.url && { DATABASE_URL: database.url }),
  });
  const running = await installation.start();
  const create = 'mutation { createApiKey(input: { name: "logged" }) { secret } }';
  const { data } = (await running.graphql(create, { 'x-api-key': ADMIN_KEY })) as {
    data: { createApiKey: { secret: string } };
  };
  const whole = data.createApiKey.secret;
  const wrong = wrongOf(whole);

  const tokens = [await provider.sign(), await provider.sign({ exp: 1 }), await provider.sign({}, { kid: 'unknown' })];
  for (const token of tokens) {
    await running.graphql('{ pets { totalCount } }', { authorization: `Bearer ${token}` });
    await fetch(`${running.url}/pets?access_token=${token}`, { headers: { connection: 'close' } });
    const client = socketClient(running.url, { authorization: `Bearer ${token}` });
    await client.subscribe('{ viewer { user } }').untilOver();
    client.close();
  }

  const key = { 'x-api-key': whole };
  const bearers = [`Bearer ${whole}`, `Basic ${whole}`].map((authorization) => ({ authorization }));
  for (const headers of [key, { 'x-api-key': wrong }, ...bearers])
    await running.graphql('{ pets { totalCount } }', headers);
  await running.graphql('{', key);
  // Closes each connection, because the process waits a second for idle connections when it stops.
  const headers = { ...key, connection: 'close' };
  for (const path of [`/pets?api_key=${whole}`, `/pets/${'1'.repeat(30)}?${whole}`, '/nothing', '/%zz'])
    await fetch(running.url + path, { headers });
  const json = { ...headers, 'content-type': 'application/json' };
  await fetch(`${running.url}/pets`, { method: 'POST', body: '{', headers: json });
  // This client connects by WebSocket before its key is banned.
  const client = socketClient(running.url, { apiKey: whole });
  client.subscribe('subscription { petChanged { petId } }');
  await until(async () => (await running.metrics()).includes('petstore_subscriptions 1\n'));
  for (let i = 0; i < 85; i++) await running.graphql('{ __typename pets { totalCount } }', key);
  for (let i = 0; i < 10; i++) {
    const { error } = await client.subscribe('{ pets { totalCount } }').untilOver();
    expect(error).toMatchObject([{ extensions: { code: 'KEY_BANNED' } }]);
  }
  client.close();

  const { stdout, stderr } = await running.stop();
  expect(stderr).toBe('');
  const requests = stdout.split('\n').filter((line) => line.includes('"path"'));
  // Rejections of a caller that is already banned are not logged.
  expect(requests.length).toBeGreaterThan(75);
  expect(requests.length).toBeLessThan(95);
  expect(stdout.match(/"method":"WEBSOCKET"/g)?.length).toBeLessThan(3);
  for (const each of [whole, wrong, ADMIN_KEY]) expectNone(each, stdout);
  for (const token of tokens) for (const part of token.split('.').slice(1)) expect(stdout).not.toContain(part);
  // The first start shows a command with the name of the header, but not with a key.
  expect(stdout.replace(/"First write":.*/, '')).not.toMatch(/x-api-key|authorization/i);
  await installation.remove();
  await provider.stop();
  await database?.drop();
});
