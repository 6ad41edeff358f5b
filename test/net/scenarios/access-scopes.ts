import { type Answer, type Caller, type Net, type Options, type Scenario } from '../scenario';
import { ADMIN_KEY } from '../server';

const GRAPHQL = [
  'query { __typename }',
  'query { rateLimit { plan } }',
  'query { viewer { plan } }',
  'query { pet(id: 999) { id } }',
  'query { pets { totalCount } }',
  'query { category(id: 999) { id } }',
  'query { categories { totalCount } }',
  'query { order(id: 999) { id } }',
  'query { orders { totalCount } }',
  'query { inventoryItem(petId: 999) { quantity } }',
  'query { inventory { totalCount } }',
  'query { node(id: "UGV0Ojk5OQ") { nodeId } }',
  'query { nodes(ids: []) { nodeId } }',
  'query { apiKey(id: "zzzzzzzzzzzz") { id } }',
  'query { apiKeys { totalCount } }',
  'query { topCallers { requests } }',
  'mutation { createPet(input: { name: "Mia", categoryId: 999 }) { id } }',
  'mutation { updatePet(id: 999, input: {}) { id } }',
  'mutation { deletePet(id: 999) { id } }',
  'mutation { createCategory(input: { name: "Mice" }) { id } }',
  'mutation { updateCategory(id: 999, input: {}) { id } }',
  'mutation { deleteCategory(id: 999) { id } }',
  'mutation { placeOrder(input: { petId: 999 }) { id } }',
  'mutation { updateOrder(id: 999, input: {}) { id } }',
  'mutation { cancelOrder(id: 999) { id } }',
  'mutation { setInventory(petId: 999, input: { quantity: 1 }) { petId } }',
  'mutation { removeInventory(petId: 999) { petId } }',
  'mutation { createApiKey(input: { name: "x" }) { apiKey { id } } }',
  'mutation { updateApiKey(id: "zzzzzzzzzzzz", input: {}) { id } }',
  'mutation { revokeApiKey(id: "zzzzzzzzzzzz") { id } }',
  'mutation { rotateApiKey(id: "zzzzzzzzzzzz") { apiKey { id } } }',
  'mutation { liftBan(caller: "zzzzzzzzzzzz") }',
];

const REST: readonly [string, object?][] = [
  ['GET /pets'],
  ['HEAD /pets'],
  ['POST /pets', { name: 'Mia', categoryId: 999 }],
  ['GET /pets/999'],
  ['PUT /pets/999', { name: 'Mia', categoryId: 1 }],
  ['PATCH /pets/999', { name: 'Mia' }],
  ['DELETE /pets/999'],
  ['GET /categories'],
  ['POST /categories', { name: 'Mice' }],
  ['GET /categories/999'],
  ['PUT /categories/999', { name: 'Mice' }],
  ['PATCH /categories/999', { name: 'Mice' }],
  ['DELETE /categories/999'],
  ['GET /store/orders'],
  ['POST /store/orders', { petId: 999 }],
  ['GET /store/orders/999'],
  ['PATCH /store/orders/999', { quantity: 2 }],
  ['DELETE /store/orders/999'],
  ['GET /store/inventory'],
  ['GET /store/inventory/999'],
  ['PUT /store/inventory/999', { quantity: 2 }],
  ['DELETE /store/inventory/999'],
  ['GET /rate_limit'],
  ['GET /usage'],
  ['GET /livez'],
  ['GET /readyz'],
  ['GET /metrics'],
  ['GET /'],
  ['GET /docs'],
  ['GET /graphiql'],
  ['GET /admin'],
  ['GET /openapi.json'],
  ['GET /schema.graphql'],
  ['OPTIONS /pets'],
  ['GET /nothing'],
];

const OPERATIONS = [
  ...GRAPHQL.map((query) => ({ name: query, line: 'POST /graphql', body: { query } })),
  ...REST.map(([line, body]) => ({ name: line, line, body })),
];

const AGREED = { plan: 'ENTERPRISE', perMinute: 100_000, perDay: 100_000 };

function outcome({ status, json }: Answer): string {
  const code = json?.errors?.[0].extensions.code ?? json?.code;
  return code ? `${status} ${code}` : String(status);
}

/**
 * Records the outcome of each operation for each caller. A caller without a valid key has a different IP address for
 * each operation.
 */
async function table(net: Net, title: string, callers: readonly Caller[]): Promise<void> {
  const lines: string[] = [];
  for (const [i, { name, line, body }] of OPERATIONS.entries()) {
    const outcomes: string[] = [];
    for (const as of callers) {
      const [method = '', path = ''] = line.split(' ');
      const headers = { 'x-forwarded-for': `198.51.100.${i}`, ...as.headers };
      outcomes.push(outcome(await net.exchange(method, path, { as: { name: as.name, headers }, body })));
    }
    lines.push(`${name}\n  ${outcomes.join(' | ')}`);
  }
  net.note(title, [callers.map(({ name }) => name).join(' | '), ...lines].join('\n'));
}

async function keysOfEachScope(net: Net): Promise<[Caller, Caller, Caller]> {
  return [
    await net.key('READ', { ...AGREED, scopes: ['READ'] }),
    await net.key('WRITE', { ...AGREED, scopes: ['WRITE'] }),
    await net.key('ADMIN', { ...AGREED, scopes: ['ADMIN'] }),
  ];
}

const NOBODY: Caller = { name: 'anonymous', headers: {} };

/** Operations that must be rejected and change nothing. */
const REFUSED: readonly [string, Options][] = [
  ['POST /pets', { body: { name: 'Mia', categoryId: 1 } }],
  ['PATCH /pets/1', { body: { name: 'Mia' } }],
  ['DELETE /pets/8', {}],
  ['DELETE /pets/no-id', { title: 'the refusal comes before any other error' }],
  ['POST /pets', { body: '{', title: 'the refusal comes before any other error' }],
  ['PUT /store/inventory/1', { body: { quantity: 0 } }],
  ['DELETE /store/orders/1', {}],
  ['POST /graphql', { body: { query: 'mutation { deletePet(id: 8) { id } }' } }],
  ['POST /graphql', { body: { query: 'mutation { cancelOrder(id: 1) { id } }' } }],
  ['POST /graphql', { body: { query: '{ pets { totalCount } apiKeys { totalCount } }' }, title: 'mixed' }],
  [
    'POST /graphql',
    { body: { query: '{ rateLimit { plan } apiKeys { totalCount } }' }, title: 'mixed with free fields' },
  ],
  [
    'POST /graphql',
    {
      body: {
        query: 'mutation { createCategory(input: { name: "Mixed" }) { id } revokeApiKey(id: "netadmin0000") { id } }',
      },
      title: 'mixed: no field runs',
    },
  ],
  [
    'POST /graphql',
    {
      body: { query: 'query ($on: Boolean!) { apiKeys @include(if: $on) { totalCount } }', variables: { on: false } },
      title: 'a field that is skipped',
    },
  ],
  [
    'POST /graphql',
    { body: { query: 'query A { pets { totalCount } } query B { apiKeys { totalCount } }', operationName: 'A' } },
  ],
  ['POST /graphql', { body: { query: '{ ...F } fragment F on Query { keys: apiKeys { totalCount } }' } }],
  ['GET /graphql?query=%7BapiKeys%7BtotalCount%7D%7D', {}],
  ['POST /graphql', { headers: { accept: 'application/json' }, body: { query: '{ apiKeys { totalCount } }' } }],
  [
    'POST /graphql',
    { headers: { accept: 'application/graphql-response+json' }, body: { query: '{ apiKeys { totalCount } }' } },
  ],
];

export const scenarios: Scenario[] = [
  {
    name: 'access scopes none',
    settings: { ANONYMOUS_ACCESS: 'none' },
    run: async (net) => {
      await net.shop();
      await table(net, 'with ANONYMOUS_ACCESS=none', [NOBODY, ...(await keysOfEachScope(net))]);
      const as = net.anonymous(1);
      for (const [line, options] of REFUSED.slice(0, 10)) await net.rest(line, { ...options, as });
      await net.rest('GET /pets/1', { as });
      await net.rest('HEAD /pets/1', { as });
      await net.rest('GET /usage', { as });
      await net.graphql('{ viewer { plan scopes apiKey { id } } rateLimit { plan cost } }', undefined, { as });
      await net.rest('POST /graphql/stream', { as, body: { query: 'subscription { petChanged { kind } }' } });
      const socket = await net.socket({ as });
      socket.send({ type: 'connection_init' });
      await socket.record('connection_init without a key', 1);
      socket.send({ id: '1', type: 'subscribe', payload: { query: 'subscription { petChanged { kind } }' } });
      await socket.record('a subscription without a key', 1);
      socket.close();
    },
  },
  {
    name: 'access scopes read',
    run: async (net) => {
      await net.shop();
      await table(net, 'with ANONYMOUS_ACCESS=read', [NOBODY]);
      const as = await net.key('reader', { ...AGREED, scopes: ['READ'] });
      for (const [line, options] of REFUSED) await net.rest(line, { ...options, as });
      const { categories, pets, orders } = await net.prepare(
        '{ categories { totalCount } pets { totalCount } orders { totalCount } }',
      );
      net.note('the data after these rejections', { categories, pets, orders });
      await net.rest('GET /store/inventory/1', { as });
      await net.rest('POST /pets', { as: net.anonymous(2), body: { name: 'Mia', categoryId: 1 } });
      await net.graphql('mutation { deletePet(id: 8) { id } }', undefined, { as: net.anonymous(2) });
      await net.graphql('{ pets { totalCount } apiKeys { totalCount } }', undefined, { as: net.anonymous(2) });
      const socket = await net.socket({ as });
      socket.send({ type: 'connection_init' });
      await socket.record('connection_init', 1);
      socket.send({ id: '1', type: 'subscribe', payload: { query: 'mutation { deletePet(id: 8) { id } }' } });
      await socket.record('a mutation with a key of the scope READ', 1);
      socket.close();
    },
  },
  {
    name: 'access scopes write',
    settings: { ANONYMOUS_ACCESS: 'write' },
    run: async (net) => {
      const key = async (name: string, input: object = {}) => net.key(name, { ...AGREED, scopes: ['ADMIN'], ...input });
      const revoked = await key('revoked');
      await net.prepare('mutation ($id: ID!) { revokeApiKey(id: $id) { id } }', { id: revoked.id });
      const wrong = { name: 'wrong', headers: { 'x-api-key': ADMIN_KEY.replace(/.$/, 'x') } };
      await table(net, 'with ANONYMOUS_ACCESS=write', [
        NOBODY,
        revoked,
        await key('expired', { expiresAt: '2020-01-01T00:00:00Z' }),
        wrong,
      ]);
      const elsewhere = { host: 'shop.example', origin: 'https://evil.example' };
      await net.rest('POST /categories', { as: net.anonymous(1), headers: elsewhere, body: { name: 'Dogs' } });
      await net.graphql('mutation { createCategory(input: { name: "Cats" }) { name } }', undefined, {
        as: net.anonymous(1),
      });
    },
  },
  {
    name: 'access by default on the embedded database',
    only: 'embedded',
    settings: { ANONYMOUS_ACCESS: undefined, TRUST_PROXY: undefined },
    run: async (net) => {
      const { port } = new URL(net.url);
      net.hide(`:${port}`, ':port');
      const as: Caller = { name: 'anonymous', headers: {} };
      const own = `127.0.0.1:${port}`;
      const create = 'mutation { createCategory(input: { name: "Cats" }) { name } }';
      for (const [origin, messages] of [
        ['http://localhost:5173', 2],
        ['https://evil.example', 1],
      ] as const) {
        const socket = await net.socket({ as, headers: { origin } });
        socket.send({ type: 'connection_init' });
        await socket.record(`connection_init from ${origin}`, 1);
        socket.send({ id: '1', type: 'subscribe', payload: { query: create } });
        await socket.record(`a mutation from ${origin}`, messages);
        socket.close();
      }
      const hosts: readonly Record<string, string>[] = [
        { host: own },
        { host: '127.1.2.3' },
        { host: 'LocalHost:80' },
        { host: `shop.localhost:${port}` },
        { host: `[::1]:${port}` },
        { host: own, origin: `http://${own}` },
        { host: own, origin: 'http://localhost:5173' },
        { host: own, origin: 'https://[::1]:8443' },
        { host: 'evil.example' },
        { host: 'evil.example', origin: 'http://evil.example' },
        { host: 'evil.example', origin: 'http://localhost' },
        { host: '127.0.0.1.evil.example' },
        { host: 'evillocalhost' },
        { host: '0.0.0.0' },
        { host: 'localhost@evil.example' },
        { host: own, origin: 'https://evil.example' },
        { host: own, origin: 'http://localhost.evil.example' },
        { host: own, origin: 'null' },
        { host: 'evil.example', 'x-forwarded-host': 'localhost', 'x-forwarded-for': '127.0.0.1' },
      ];
      for (const headers of hosts) await net.rest('POST /categories', { as, headers, body: { name: 'Dogs' } });
      await net.rest('GET /categories?limit=1', { as, headers: { host: 'evil.example' } });
      await net.graphql(create, undefined, { as });
      await net.graphql(create, undefined, { as, headers: { host: 'evil.example' } });
      await net.graphql(create, undefined, { as, headers: { origin: 'https://evil.example' } });
      await net.graphql('{ viewer { plan scopes } }', undefined, { as });
      await net.graphql('{ viewer { plan scopes } }', undefined, { as, headers: { host: 'evil.example' } });
      await net.rest('POST /categories', { headers: { host: 'evil.example' }, body: { name: 'with a key' } });
      await net.raw(
        'HTTP/1.0 without a Host',
        'POST /categories HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n{"name":"Mice"}',
      );
    },
  },
  {
    name: 'access by default with CORS_ORIGINS',
    only: 'embedded',
    settings: { ANONYMOUS_ACCESS: undefined, TRUST_PROXY: undefined, CORS_ORIGINS: 'https://shop.example' },
    run: async (net) => {
      const as: Caller = { name: 'anonymous', headers: {} };
      for (const origin of ['https://shop.example', 'http://localhost:5173', 'https://evil.example'])
        await net.rest('POST /categories', { as, headers: { origin }, body: { name: 'Dogs' } });
    },
  },
  {
    name: 'access by default on PostgreSQL',
    only: 'postgres',
    settings: { ANONYMOUS_ACCESS: undefined },
    run: async (net) => {
      const as: Caller = { name: 'anonymous', headers: {} };
      await net.rest('POST /categories', { as, body: { name: 'Dogs' } });
      await net.rest('GET /categories', { as });
      await net.graphql('{ viewer { plan scopes apiKey { id } } }', undefined, { as });
    },
  },
];
