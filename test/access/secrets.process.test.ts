import { createHash } from 'node:crypto';
import { statement } from '../../src/database/statement';
import { createDatabase } from '../helper/database';
import { ADMIN_KEY, type Gateway, startGateway, type TestKey } from '../helper/gateway';
import { Installation } from '../helper/installation';
import { socketClient } from '../helper/live';
import { until } from '../helper/until';

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

describe('in the application', () => {
  let gateway: Gateway;
  let key: TestKey;
  beforeAll(async () => {
    gateway = await startGateway();
    key = await gateway.createKey();
  });
  afterAll(() => gateway.close());

  test('the secret is in no column of any table, and its hash in only one', async () => {
    await gateway.app.inject({ url: '/pets', headers: key.headers });
    const tables = await gateway.database.query<{ name: string }>(
      statement(
        "select quote_ident(table_schema) || '.' || quote_ident(table_name) as name from information_schema.tables where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')",
      ),
      [],
    );
    expect(tables.map(({ name }) => name)).toContain('public.api_keys');
    const [secret = '', hash = ''] = spellings(key.whole);
    const found: string[] = [];
    for (const { name } of tables) {
      const rows = await gateway.database.query<{ row: string }>(statement(`select t::text as row from ${name} t`), []);
      const text = rows.map(({ row }) => row).join('\n');
      if (text.includes(secret) || text.includes(key.whole)) found.push(`${name}: the secret`);
      if (text.includes(hash)) found.push(`${name}: its hash`);
    }
    expect(found).toEqual(['public.api_keys: its hash']);
  });

  test('no response contains the secret or the hash of a key once it has been shown', async () => {
    const fields = 'id name plan scopes perMinute perDay expiresAt revokedAt lastUsedAt createdAt bannedUntil';
    const id = `id: "${key.id}"`;
    const { whole, headers } = key;
    const post = { method: 'POST' as const, url: '/graphql' };
    const typed = { 'content-type': 'application/json' };
    const query = (text: string, more: object = {}) => ({
      ...post,
      headers: { ...typed, ...more },
      payload: { query: text },
    });
    const wrong = `${whole.slice(0, -1)}${whole.endsWith('a') ? 'b' : 'a'}`;
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
      { ...post, headers: { ...typed, ...headers }, payload: '{' },
      { url: '/nothing', headers },
      { url: '/pets?limit=0', headers },
      { url: '/pets', headers: { 'x-api-key': wrong } },
      { method: 'PUT' as const, url: '/pets', headers },
      query(`mutation { revokeApiKey(${id}) { ${fields} } }`),
      query('{ pets { totalCount } }', headers),
    ]) {
      const response = await gateway.app.inject(request);
      expectNone(whole, response.payload + JSON.stringify(response.headers));
    }
  });
});

describe('in the output of the process', () => {
  let installation: Installation;
  let drop: (() => Promise<void>) | undefined;
  beforeAll(async () => {
    const created = process.env.TEST_DATABASE_URL ? await createDatabase() : undefined;
    drop = created?.drop;
    installation = new Installation({
      LOG_LEVEL: 'trace',
      NODE_ENV: 'production',
      ADMIN_API_KEY: ADMIN_KEY,
      ...(created?.url && { DATABASE_URL: created.url }),
    });
  });
  afterAll(async () => {
    await installation.remove();
    await drop?.();
  });

  test('there is no secret, no hash, and no header that contains one', async () => {
    const running = await installation.start();
    const admin = { 'x-api-key': ADMIN_KEY };
    const create = 'mutation { createApiKey(input: { name: "logged" }) { secret } }';
    const { data } = (await running.graphql(create, admin)) as { data: { createApiKey: { secret: string } } };
    const whole = data.createApiKey.secret;
    const wrong = `${whole.slice(0, -1)}${whole.endsWith('a') ? 'b' : 'a'}`;

    await running.graphql('{ pets { totalCount } }', { 'x-api-key': whole });
    await running.graphql('{ pets { totalCount } }', { authorization: `Bearer ${whole}` });
    await running.graphql('{ pets { totalCount } }', { 'x-api-key': wrong });
    await running.graphql('{ pets { totalCount } }', { authorization: `Basic ${whole}` });
    await running.graphql('{', { 'x-api-key': whole });
    // The process waits a second for idle connections when it stops.
    const headers = { 'x-api-key': whole, connection: 'close' };
    for (const path of [`/pets?api_key=${whole}`, `/pets/${'1'.repeat(30)}?${whole}`, '/nothing', '/%zz'])
      await fetch(running.url + path, { headers });
    await fetch(`${running.url}/pets`, {
      method: 'POST',
      body: '{',
      headers: { ...headers, 'content-type': 'application/json' },
    });
    // A caller that connects by WebSocket before it is banned.
    const client = socketClient(running.url, { apiKey: whole });
    client.subscribe('subscription { petChanged { petId } }');
    await until(async () => (await running.metrics()).includes('petstore_subscriptions 1\n'));
    for (let i = 0; i < 85; i++) await running.graphql('{ __typename pets { totalCount } }', { 'x-api-key': whole });
    for (let i = 0; i < 10; i++) {
      const { error } = await client.subscribe('{ pets { totalCount } }').untilOver();
      expect(error).toMatchObject([{ extensions: { code: 'KEY_BANNED' } }]);
    }
    client.close();

    const { stdout, stderr } = await running.stop();
    expect(stderr).toBe('');
    const requests = stdout.split('\n').filter((line) => line.includes('"path"'));
    // Refusals of a caller already banned are not logged.
    expect(requests.length).toBeGreaterThan(75);
    expect(requests.length).toBeLessThan(95);
    expect(stdout.match(/"method":"WEBSOCKET"/g)?.length).toBeLessThan(3);
    for (const each of [whole, wrong, ADMIN_KEY]) expectNone(each, stdout);
    expect(stdout).not.toMatch(/x-api-key|authorization/i);
  });
});
