import { type Gateway, startGateway, type TestKey } from '../../helper/gateway';
import { toldBy } from '../../helper/standing';
import { exchange } from '../../helper/wire';

const START = 1_800_000_000_123;
let clock = START;
let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({}, () => clock);
});
afterAll(() => gateway.close());

const PETS = '{ pets { totalCount } }';

/** An operation with this number of counted root fields, none of which needs the database. */
const fields = (count: number) =>
  `{ ${Array.from({ length: count }, (_, i) => `f${i}: pets { __typename }`).join(' ')} }`;

/** Sends a request with a key, or anonymously from an address. */
type Ask = (as: TestKey) => Promise<{ status: number; headers: Record<string, unknown>; code?: string }>;

const graphql =
  (query: string, variables?: object): Ask =>
  async ({ headers }) => {
    const answer = await gateway.graphql(query, variables, headers);
    return { ...answer, code: String(answer.errors[0]?.extensions?.code) };
  };
const rest =
  (url: string, options: Parameters<Gateway['app']['inject']>[0] = {}): Ask =>
  async ({ headers }) => {
    const more = typeof options === 'string' ? {} : options;
    const response = await gateway.app.inject({ ...more, url, headers: { ...more.headers, ...headers } });
    const body = response.payload.startsWith('{') ? response.json() : {};
    return {
      status: response.statusCode,
      headers: response.headers,
      code: body.code ?? body.errors?.[0].extensions.code,
    };
  };

/** What the caller has left in each window. */
async function left({ headers }: TestKey): Promise<{ minute: number; day: number }> {
  const { data } = await gateway.graphql('{ rateLimit { windows { remaining } } }', undefined, headers);
  const windows = data.rateLimit?.windows?.map(({ remaining }) => Number(remaining));
  return { minute: windows?.[0] ?? Number.NaN, day: windows?.[1] ?? Number.NaN };
}

/** A new caller with this many requests left in the minute. */
async function keyWith(remaining: number): Promise<TestKey> {
  const key = await gateway.createKey();
  if (remaining < 60) expect((await graphql(fields(60 - remaining))(key)).status).toBe(200);
  return key;
}

describe('an operation is charged for its counted root fields', () => {
  const two = 'fragment two on Query { pets { totalCount } orders { totalCount } }';
  const rows: [number, string, object?][] = [
    [1, PETS],
    [1, 'query named { pets { totalCount } }'],
    [2, '{ a: pets { totalCount } b: pets { totalCount } }'],
    [2, '{ pets { totalCount } orders { totalCount } }'],
    [1, '{ pets { totalCount } pets { nodes { id } } }'],
    [1, '{ pets { nodes { category { pets { nodes { inventory { quantity } } } } } } }'],
    [2, `{ ...two } ${two}`],
    [2, `{ ...two ...two pets { totalCount } } ${two}`],
    [3, `{ ... { ... on Query { a: pets { totalCount } } } ...two } ${two}`],
    [1, '{ pets { totalCount } __typename viewer { plan } rateLimit { cost } }'],
    [0, '{ __typename }'],
    [0, '{ viewer { plan rateLimit { cost } } rateLimit { cost } __schema { queryType { name } } }'],
    [1, '{ pets { totalCount } orders @skip(if: true) { totalCount } }'],
    [1, '{ pets { totalCount } orders @include(if: false) { totalCount } }'],
    [0, '{ pets @skip(if: true) { totalCount } }'],
    [2, 'query ($no: Boolean!) { pets { totalCount } orders @skip(if: $no) { totalCount } }', { no: false }],
    [1, 'query ($no: Boolean!) { pets { totalCount } orders @skip(if: $no) { totalCount } }', { no: true }],
    [2, `query ($yes: Boolean = true) { ...two @include(if: $yes) } ${two}`],
    [0, `query ($yes: Boolean = true) { ...two @include(if: $yes) } ${two}`, { yes: false }],
    [
      1,
      `query ($yes: Boolean!) { pets @include(if: $yes) { totalCount } ... @skip(if: $yes) { ...two } } ${two}`,
      { yes: true },
    ],
    [2, 'mutation { a: deletePet(id: 1) { id } b: deletePet(id: 2) { id } }'],
    [60, fields(60)],
  ];
  test.each(rows.map(([cost, query, variables = {}]) => [cost, query, variables] as const))(
    '%i for %s with %j',
    async (cost, query, variables) => {
      for (const times of [1, 2]) {
        if (times * cost > 60) break;
        const key = await keyWith(60 - (times - 1) * cost);
        const answer = await gateway.graphql(query, variables, key.headers);
        expect(answer.extensions?.cost).toMatchObject({
          operation: cost,
          remaining: { minute: 60 - times * cost, day: 1000 - times * cost },
        });
        expect(toldBy(answer.headers).remaining).toBe(60 - times * cost);
        expect(await left(key)).toEqual({ minute: 60 - times * cost, day: 1000 - times * cost });
      }
    },
  );

  test('only if it is the selected one', async () => {
    const key = await gateway.createKey();
    const response = await gateway.app.inject({
      method: 'POST',
      url: '/graphql',
      headers: { ...key.headers, 'content-type': 'application/json' },
      payload: { query: `query a ${PETS} query b ${fields(50)}`, operationName: 'a' },
    });
    expect(response.json().extensions.cost.operation).toBe(1);
  });

  test('rateLimit reports it beside what is left', async () => {
    const { headers } = await gateway.createKey();
    const query =
      '{ rateLimit { plan cost bannedUntil windows { name limit remaining resetAt } } a: pet(id: 1) { id } b: pet(id: 1) { id } }';
    const { data } = await gateway.graphql(query, undefined, headers);
    expect(data.rateLimit).toEqual({
      plan: 'FREE',
      cost: 2,
      bannedUntil: null,
      windows: [
        { name: 'minute', limit: 60, remaining: 58, resetAt: new Date(clock + 60_000).toISOString() },
        { name: 'day', limit: 1000, remaining: 998, resetAt: new Date(clock + 86_400_000).toISOString() },
      ],
    });
  });
});

describe('an operation over the limit', () => {
  const create = (name: string) => `${name}: createCategory(input: { name: "${name}" }) { id }`;
  const names = async () => {
    const { categories } = await gateway.data('{ categories(first: 100) { nodes { name } } }');
    return categories?.nodes?.map(({ name }) => String(name));
  };

  test('of three fields, with two requests left: none of them runs, no data is returned, nothing is used up', async () => {
    const key = await keyWith(2);
    const payload = { query: `mutation { ${create('one')} ${create('two')} ${create('three')} }` };
    for (let times = 0; times < 2; times++) {
      const response = await gateway.app.inject({
        method: 'POST',
        url: '/graphql',
        headers: { ...key.headers, 'content-type': 'application/json' },
        payload,
      });
      expect(response.statusCode).toBe(429);
      expect(Object.keys(response.json())).toEqual(['errors']);
      expect(response.json().errors).toEqual([
        {
          message: 'This plan allows 60 requests per minute. Try again in 60 seconds.',
          extensions: { code: 'RATE_LIMITED', status: 429, requestId: expect.any(String) },
        },
      ]);
      expect(toldBy(response.headers)).toMatchObject({ limit: 60, remaining: 2, retryAfter: 60 });
    }
    expect(await names()).toEqual([]);
    expect(await left(key)).toEqual({ minute: 2, day: 942 });

    expect((await graphql(`mutation { ${create('one')} ${create('two')} }`)(key)).status).toBe(200);
    expect(await names()).toEqual(['one', 'two']);
  });

  test('that does not fit in a whole minute or day is too complex, and counts as one', async () => {
    const free = await gateway.createKey();
    expect(await graphql(fields(61))(free)).toMatchObject({ status: 400, code: 'OPERATION_TOO_COMPLEX' });
    expect(await left(free)).toEqual({ minute: 59, day: 999 });

    const agreed = await gateway.createKey({ plan: 'ENTERPRISE', perMinute: 100, perDay: 5 });
    expect(await graphql(fields(6))(agreed)).toMatchObject({ status: 400, code: 'OPERATION_TOO_COMPLEX' });
    expect(await left(agreed)).toEqual({ minute: 99, day: 4 });
  });

  test.each<[string, Ask]>([
    ['GraphQL', graphql(PETS)],
    ['REST', rest('/pets')],
    ['REST, writing', rest('/categories', { method: 'POST', payload: { name: 'never' } })],
  ])('gets RATE_LIMITED on %s', async (_door, ask) => {
    const key = await keyWith(0);
    expect(await ask(key)).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
    expect(await names()).not.toContain('never');
  });
});

describe('free of quota', () => {
  const apollo = { 'apollo-require-preflight': '1' };
  const preflight = { origin: 'https://shop.example', 'access-control-request-method': 'POST' };
  const free: [string, Ask][] = [
    ['__typename', graphql('{ __typename }')],
    ['introspection', graphql('{ __schema { types { name fields { name } } } }')],
    ['rateLimit', graphql('{ rateLimit { cost } }')],
    ['viewer', graphql('{ viewer { plan rateLimit { cost } } }')],
    ['a free query by GET', rest('/graphql?query={__typename}', { headers: apollo })],
    ['a preflight', rest('/graphql', { method: 'OPTIONS', headers: preflight })],
    ['a preflight of REST', rest('/pets', { method: 'OPTIONS', headers: preflight })],
    ['OPTIONS', rest('/pets', { method: 'OPTIONS' })],
    ['the OpenAPI document', rest('/openapi.json')],
    ['the OpenAPI document, as YAML', rest('/openapi.yaml')],
    ['the documentation', rest('/docs/rest')],
    ['Sandbox', rest('/graphql', { headers: { accept: 'text/html' } })],
    ['the start page', rest('/')],
    ['GraphiQL', rest('/graphiql')],
  ];
  test.each(free)('%s', async (_name, ask) => {
    const key = await keyWith(0);
    expect((await ask(key)).status).toBeLessThan(400);
    expect(await left(key)).toEqual({ minute: 0, day: 940 });
  });

  test('but only up to a ceiling: ten times the quota per minute', async () => {
    const key = await gateway.createKey();
    for (let i = 0; i < 600; i++) {
      const ask = free[i % free.length]?.[1] as Ask;
      expect((await ask(key)).status).toBeLessThan(400);
    }
    for (const [, ask] of free.slice(0, 12)) {
      const answer = await ask(key);
      expect(answer.status).toBe(429);
      expect(toldBy(answer.headers as Record<string, string>)).toMatchObject({
        limit: 600,
        remaining: 0,
        windows: { minute: { r: 60 }, day: { r: 1000 }, uncounted: { q: 600, w: 60, r: 0 } },
      });
    }
    expect(await graphql(PETS)(key)).toMatchObject({ status: 200 });
    clock += 60_000;
    expect((await rest('/openapi.json')(key)).status).toBe(200);
  });
});

describe('a request that fails before it reaches a counted field counts as one, and is refused when none is left', () => {
  const json = { 'content-type': 'application/json' };
  const crossSite = { 'sec-fetch-site': 'cross-site' };
  const post = (url: string, payload: string, headers: Record<string, string> = json) =>
    rest(url, { method: 'POST', payload, headers });
  const large = JSON.stringify({ name: 'x'.repeat(101 * 1024) });
  const failing: [number, string, Ask][] = [
    [400, 'bad JSON', post('/pets', '{')],
    [400, 'bad JSON to GraphQL', post('/graphql', '{')],
    [400, 'an empty body', post('/pets', '')],
    [400, 'a document that does not parse', graphql('{')],
    [400, 'a document that is not valid', graphql('{ nothing }')],
    [400, 'a free query that is not valid', graphql('{ viewer { nothing } }')],
    [400, 'an unknown operation name', post('/graphql', '{"query":"{ __typename }","operationName":"other"}')],
    [400, 'invalid variables', graphql('query ($id: ID!) { pet(id: $id) { id } }', { id: 'x' })],
    [
      400,
      'invalid variables for three fields',
      graphql('query ($id: ID!) { a: pet(id: $id) { id } b: pet(id: $id) { id } c: pet(id: $id) { id } }', {
        id: -1,
      }),
    ],
    [
      400,
      'invalid variables, behind a directive',
      graphql('query ($id: ID!) { pet(id: $id) @skip(if: false) { id } }', { id: 'x' }),
    ],
    [
      400,
      'a directive with an invalid variable',
      graphql('query ($on: Boolean!) { pets @include(if: $on) { totalCount } }', { on: 'yes' }),
    ],
    [400, 'invalid variables for a free query', graphql('query ($on: Boolean!) { viewer @include(if: $on) { plan } }')],
    [400, 'a missing variable', graphql('query ($id: ID!) { pet(id: $id) { id } }')],
    [400, 'a list of operations', post('/graphql', '[{"query":"{ pets { totalCount } }"}]')],
    [400, 'a possible CSRF request', rest('/graphql?query={pets{totalCount}}', { headers: crossSite })],
    [400, 'bad input', rest('/pets?limit=0')],
    [400, 'an unknown parameter', rest('/pets?colour=red')],
    [400, 'a path that is not an id', rest('/pets/first')],
    [400, 'a URL that cannot be decoded', rest('/%zz')],
    [403, 'a missing scope', graphql('{ apiKeys { totalCount } }')],
    [
      403,
      'a missing scope, beside allowed fields',
      graphql('{ a: pet(id: 1) { id } b: pet(id: 1) { id } apiKeys { totalCount } }'),
    ],
    [404, 'an unknown path', rest('/nothing')],
    [404, 'an unknown path below the docs', rest('/docs/nothing')],
    [405, 'a method that is not allowed', rest('/pets', { method: 'PUT' })],
    [
      405,
      'a mutation by GET',
      rest('/graphql?query=mutation{deletePet(id:1){id}}', { headers: { 'apollo-require-preflight': '1' } }),
    ],
    [406, 'an Accept that cannot be met', rest('/pets', { headers: { accept: 'image/png' } })],
    [413, 'a body that is too large', post('/categories', large)],
    [413, 'a body that is too large for GraphQL', post('/graphql', large)],
    [415, 'an unsupported content type', post('/pets', 'a,b', { 'content-type': 'text/csv' })],
  ];
  test.each(failing)('%i: %s', async (status, _name, ask) => {
    const key = await keyWith(1);
    expect((await ask(key)).status).toBe(status);
    expect(await left(key)).toEqual({ minute: 0, day: 940 });
    expect(await ask(key)).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
    expect(await left(key)).toEqual({ minute: 0, day: 940 });
  });

  describe('of a caller without a valid key, against its address', () => {
    const from = (remoteAddress: string, headers: Record<string, string>, query: string) =>
      gateway.server.inject({
        method: 'POST',
        url: '/graphql',
        headers: { ...json, ...headers },
        payload: { query },
        remoteAddress,
      });
    test.each<[string, Record<string, string>, string]>([
      ['192.0.2.1', { 'x-api-key': 'wrong' }, PETS],
      ['192.0.2.2', { 'x-api-key': 'wrong' }, '{ __typename }'],
      ['192.0.2.3', { authorization: 'Basic eDp5' }, PETS],
      ['192.0.2.4', {}, '{ apiKeys { totalCount } }'],
    ])('401 from %s with %j', async (address, headers, query) => {
      expect((await from(address, {}, fields(59))).statusCode).toBe(200);
      expect((await from(address, headers, query)).statusCode).toBe(401);
      expect((await from(address, headers, query)).statusCode).toBe(429);
    });

    let url: string;
    beforeAll(async () => {
      url = await gateway.listen();
    });
    test.each([
      ['a request that is not HTTP', 'GARBAGE\r\n\r\n'],
      ['headers that are too large', `GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'a'.repeat(20_000)}\r\n\r\n`],
      [
        'a broken chunk',
        'POST /pets HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
      ],
      [
        'a broken chunk after a valid one',
        'POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\nzz\r\n',
      ],
      ['no Host', 'GET /pets HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ])('%s', async (_name, text) => {
      clock += 86_400_000;

      const minute = async () =>
        (await from('127.0.0.1', {}, '{ rateLimit { windows { remaining } } }')).json().data.rateLimit.windows[0]
          .remaining;
      expect(await minute()).toBe(60);
      expect(await exchange(url, text)).toMatch(/^HTTP\/1\.1 4(00|31) /);
      expect(await minute()).toBe(59);
      expect((await from('127.0.0.1', {}, fields(59))).statusCode).toBe(200);
      expect(await exchange(url, text)).toMatch(/^HTTP\/1\.1 429 .*"code":"RATE_LIMITED"/s);
      expect(await minute()).toBe(0);
    });
  });
});

describe('windows', () => {
  const read = rest('/pets');
  const told = async (key: TestKey) => {
    const answer = await read(key);
    return { status: answer.status, ...toldBy(answer.headers as Record<string, string>) };
  };

  test('start with the first request and end a minute later; Reset and Retry-After give the end, never too early', async () => {
    clock += 777;
    const key = await gateway.createKey();
    const first = clock;
    expect(await told(key)).toMatchObject({ remaining: 59, reset: Math.ceil((first + 60_000) / 1000) });
    clock += 12_345;
    await graphql(fields(59))(key);
    const refused = await told(key);
    expect(refused).toMatchObject({
      status: 429,
      remaining: 0,
      reset: Math.ceil((first + 60_000) / 1000),
      retryAfter: 48,
    });

    clock = first + 59_999;
    expect(await told(key)).toMatchObject({ status: 429, retryAfter: 1 });
    clock = first + 60_000;
    expect(await told(key)).toMatchObject({
      status: 200,
      remaining: 59,
      reset: Math.ceil((first + 120_000) / 1000),
    });
  });

  test('after Retry-After the refused request succeeds, whatever it costs', async () => {
    const key = await keyWith(10);
    clock += 5_001;
    const refused = await graphql(fields(11))(key);
    expect(refused.status).toBe(429);
    clock += Number(toldBy(refused.headers as Record<string, string>).retryAfter) * 1000;
    expect((await graphql(fields(11))(key)).status).toBe(200);
  });

  test('both count; a request refused by one does not count in the other', async () => {
    const key = await gateway.createKey({ plan: 'ENTERPRISE', perMinute: 2, perDay: 5 });
    const first = clock;
    expect(await told(key)).toMatchObject({ limit: 2, remaining: 1 });
    expect(await told(key)).toMatchObject({ limit: 2, remaining: 0 });
    expect(await told(key)).toMatchObject({ status: 429, limit: 2, remaining: 0, retryAfter: 60 });
    expect(await left(key)).toEqual({ minute: 0, day: 3 });
    clock += 60_000;
    for (const remaining of [1, 0]) expect(await told(key)).toMatchObject({ limit: 2, remaining });
    clock += 60_000;
    expect(await told(key)).toMatchObject({ limit: 5, remaining: 0 });
    const refused = await told(key);
    expect(refused).toMatchObject({ status: 429, limit: 5, remaining: 0, retryAfter: 86_280 });
    expect(refused.reset).toBe(Math.ceil((first + 86_400_000) / 1000));
    expect(await left(key)).toEqual({ minute: 1, day: 0 });
    clock = first + 86_400_000;
    expect(await told(key)).toMatchObject({ status: 200, limit: 2, remaining: 1 });
  });

  test('a change of plan applies from the next request on, also to what has been used', async () => {
    const key = await keyWith(0);
    const change = (plan: string) =>
      gateway.data('mutation ($id: ID!, $input: ApiKeyUpdate!) { updateApiKey(id: $id, input: $input) { id } }', {
        id: key.id,
        input: { plan },
      });
    expect((await told(key)).status).toBe(429);
    await change('PRO');
    expect(await told(key)).toMatchObject({ status: 200, limit: 300, remaining: 239 });
    await change('FREE');
    expect(await told(key)).toMatchObject({ status: 429, limit: 60, remaining: 0 });
  });
});
