import { createApp } from '../../src/app/app';
import { readConfig } from '../../src/app/config';
import { type Gateway, startGateway } from '../helper/gateway';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const READ = '{ pets { totalCount } }';
const WRITE = 'mutation { createCategory(input: { name: "Dogs" }) { id } }';
const ADMIN = '{ apiKeys { totalCount } }';
const OPERATIONS = [READ, WRITE, ADMIN];

type Headers = Record<string, string | undefined>;
const ANONYMOUS: Headers = { 'x-api-key': undefined };

/** The status of each operation on GraphQL, and of the first two on REST. */
async function statuses(of: Gateway, headers: Headers): Promise<number[][]> {
  const graphql = OPERATIONS.map(async (query) => (await of.graphql(query, undefined, headers)).status);
  const rest = [
    of.app.inject({ url: '/pets', headers }),
    of.app.inject({ method: 'POST', url: '/categories', payload: { name: 'Cats' }, headers }),
  ].map(async (answer) => (await answer).statusCode);
  return [await Promise.all(graphql), await Promise.all(rest)];
}

async function categories(): Promise<number> {
  const { categories } = await gateway.data('{ categories { totalCount } }');
  return Number(categories?.totalCount);
}

describe('each scope includes the lower ones', () => {
  test.each([
    { scopes: ['READ', 'WRITE'], graphql: [200, 200, 403], rest: [200, 201] },
    { scopes: ['ADMIN', 'READ'], graphql: [200, 200, 200], rest: [200, 201] },
  ])('a key with $scopes', async ({ scopes, graphql, rest }) => {
    const { headers } = await gateway.createKey({ scopes });
    expect(await statuses(gateway, headers)).toEqual([graphql, rest]);
  });

  test('the viewer sees all scopes that it has', async () => {
    const { headers } = await gateway.createKey({ scopes: ['ADMIN'] });
    const { data } = await gateway.graphql('{ viewer { scopes apiKey { scopes } } }', undefined, headers);
    expect(data).toEqual({ viewer: { scopes: ['READ', 'WRITE', 'ADMIN'], apiKey: { scopes: ['ADMIN'] } } });
  });
});

describe('what anonymous callers may do', () => {
  const NOTHING = [
    [401, 401, 401],
    [401, 401],
  ];
  const READING = [
    [200, 401, 401],
    [200, 401],
  ];
  const WRITING = [
    [200, 200, 401],
    [200, 201],
  ];
  test.each<[Record<string, string>, number[][]]>([
    [{}, WRITING],
    [{ HOST: 'localhost' }, WRITING],
    [{ HOST: '127.8.9.10' }, WRITING],
    [{ HOST: '::1' }, WRITING],
    [{ HOST: '0.0.0.0' }, READING],
    [{ HOST: '::' }, READING],
    [{ HOST: '192.0.2.1' }, READING],
    [{ HOST: '127.0.0.1.example.com' }, READING],
    [{ DATABASE_URL: 'postgresql://127.0.0.1/petstore' }, READING],
    [{ DATABASE_URL: 'postgresql://127.0.0.1/petstore', ANONYMOUS_ACCESS: 'write' }, WRITING],
    [{ HOST: '0.0.0.0', ANONYMOUS_ACCESS: 'none' }, NOTHING],
  ])('with %j', async (environment, expected) => {
    const instance = await gateway.another(environment);
    expect(await statuses(instance, ANONYMOUS)).toEqual(expected);
    await instance.server.close();
  });

  test('is reported at startup', async () => {
    const config = readConfig({ LOG_LEVEL: 'silent', HOST: '0.0.0.0' });
    const { server, anonymousAccess } = await createApp(config, gateway.database);
    expect(anonymousAccess).toBe('read');
    await server.close();
  });
});

describe('without the scope', () => {
  test('a key gets FORBIDDEN on both interfaces', async () => {
    const { headers } = await gateway.createKey({ scopes: ['READ'] });
    const message = 'This operation needs an API key with the scope WRITE; this key does not have it.';
    const problem = { code: 'FORBIDDEN', status: 403, requestId: expect.any(String) };
    const graphql = await gateway.graphql(WRITE, undefined, headers);
    expect(graphql).toMatchObject({
      status: 403,
      data: undefined,
      errors: [{ message, extensions: problem }],
    });
    const rest = await gateway.app.inject({ method: 'DELETE', url: '/pets/1', headers });
    expect([rest.statusCode, rest.json()]).toEqual([403, { message, ...problem }]);
    expect(rest.headers).not.toHaveProperty('www-authenticate');
  });

  test.each([
    ['POST', '/pets', '{}'],
    ['POST', '/pets', '{'],
    ['PUT', '/pets/1', '{}'],
    ['DELETE', '/pets/abc', undefined],
  ] as const)('the refusal comes before any other error: %s %s %s', async (method, url, payload) => {
    const { headers } = await gateway.createKey({ scopes: ['READ'] });
    const closed = await gateway.another({ ANONYMOUS_ACCESS: 'none' });
    const type = payload && { 'content-type': 'application/json' };
    const key = await gateway.app.inject({ method, url, payload, headers: { ...headers, ...type } });
    const none = await closed.app.inject({ method, url, payload, headers: { ...ANONYMOUS, ...type } });
    await closed.close();
    expect([key.json().code, none.json().code]).toEqual(['FORBIDDEN', 'UNAUTHENTICATED']);
  });

  test('an anonymous caller is asked for a key', async () => {
    const graphql = await gateway.graphql(ADMIN, undefined, ANONYMOUS);
    expect(graphql).toMatchObject({
      status: 401,
      data: undefined,
      errors: [{ extensions: { code: 'UNAUTHENTICATED', status: 401 } }],
      headers: { 'www-authenticate': 'Bearer realm="petstore"' },
    });
  });

  test('no part of the operation runs, wherever the restricted field is', async () => {
    const { headers } = await gateway.createKey({ scopes: ['WRITE'] });
    const create = 'createCategory(input: { name: "Birds" }) { id }';
    const admin = 'createApiKey(input: { name: "mine", scopes: [ADMIN] }) { secret }';
    const before = await categories();
    for (const query of [
      `mutation { ${create} ${admin} }`,
      `mutation { ${create} other: ${admin} }`,
      `mutation { ${create} ... on Mutation { ${admin} } }`,
      `mutation { ${create} ...more } fragment more on Mutation { ${admin} }`,
      `mutation ($yes: Boolean = true) { ${create} ${admin.replace(') {', ') @include(if: $yes) {')} }`,
    ]) {
      expect(await gateway.graphql(query, undefined, headers)).toMatchObject({
        status: 403,
        data: undefined,
      });
    }
    expect(await categories()).toBe(before);
  });

  test('a field that is skipped needs none', async () => {
    const { headers } = await gateway.createKey({ scopes: ['READ'] });
    const query = 'query ($no: Boolean!) { pets { totalCount } apiKeys @include(if: $no) { totalCount } }';
    expect((await gateway.graphql(query, { no: false }, headers)).status).toBe(200);
    expect((await gateway.graphql(query, { no: true }, headers)).status).toBe(403);
  });

  test('introspection, rateLimit and viewer stay open', async () => {
    const instance = await gateway.another({ ANONYMOUS_ACCESS: 'none' });
    const query = '{ __typename rateLimit { plan } viewer { scopes } __schema { queryType { name } } }';
    expect(await instance.graphql(query, undefined, ANONYMOUS)).toMatchObject({
      status: 200,
      data: { rateLimit: { plan: 'FREE' }, viewer: { scopes: [] } },
    });
    await instance.server.close();
  });
});
