import { gzipSync } from 'node:zlib';
import { fillShop } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';
import { titled } from '../helper/titled';
import { ANONYMOUS, type Answer, ask, type Headers, PETS, STREAM } from './client';
import { RESPONSES } from './responses';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ MAX_REQUESTS_IN_PROGRESS: '1', ANONYMOUS_ACCESS: 'none' });
  await fillShop(gateway.database);
});
afterAll(() => gateway.close());

const JSON_TYPE = 'application/json; charset=utf-8';
const RESPONSE_TYPE = 'application/graphql-response+json; charset=utf-8';
const CREATE = 'mutation { createCategory(input: { name: "Unseen" }) { id } }';

/** Values of `Accept`, each with the content type of the response. */
const ACCEPTS: [accept: string | undefined, type: string][] = [
  ['application/json', JSON_TYPE],
  ['application/graphql-response+json', RESPONSE_TYPE],
  // Sent by Apollo Client 4 and by urql.
  ['application/graphql-response+json,application/json;q=0.9', RESPONSE_TYPE],
  [
    'application/graphql-response+json, application/graphql+json, application/json, text/event-stream, */*',
    RESPONSE_TYPE,
  ],
  ['application/json, application/graphql-response+json;q=0.9', JSON_TYPE],
  [undefined, JSON_TYPE],
];
const KEYS = { anonymous: ANONYMOUS, 'wrong key': { 'x-api-key': 'x' } };
const REJECTED = RESPONSES.filter(
  ({ on, status, code, before }) =>
    /^([^A-Z]|[A-Z]+ \/graphql\b)/.test(on) &&
    status >= 400 &&
    status !== 403 &&
    code !== 'OPERATION_TOO_COMPLEX' &&
    !before,
);
const OF_DOCUMENT = ['GRAPHQL_PARSE_FAILED', 'GRAPHQL_VALIDATION_FAILED', 'BAD_USER_INPUT'];

/** @returns the status, content type and error code of a response with exactly one GraphQL error. */
function rejection({ status, headers, json, error, code }: Answer) {
  expect([json.errors?.length, error?.requestId]).toEqual([1, headers['x-request-id']]);
  return [status, headers['content-type'], code];
}

describe.each(ACCEPTS)('GraphQL errors have the content type that the client accepts: %s', (accept, type) => {
  test.each(REJECTED)('$status $code for $name', async ({ on, status, code = '', as, ...row }) => {
    const headers = { accept, ...row.headers, ...KEYS[as as keyof typeof KEYS] };
    const isOk = accept === 'application/json' && OF_DOCUMENT.includes(code);
    expect(rejection(await ask(gateway, on, { ...row, headers }))).toEqual([isOk ? 200 : status, type, code]);
  });

  test('for a missing scope, an exhausted quota and a ban', async () => {
    const { headers } = await gateway.createKey({ plan: 'ENTERPRISE', perMinute: 1, perDay: 100, scopes: ['READ'] });
    const send = async (on: string, body?: string) =>
      rejection(await ask(gateway, on, { body, headers: { accept, ...headers } }));
    expect(await send(CREATE)).toEqual([403, type, 'FORBIDDEN']);
    expect(await send('POST /graphql', '{')).toEqual([429, type, 'RATE_LIMITED']);
    for (let i = 0; i < 19; i++) expect(await send(PETS)).toEqual([429, type, 'RATE_LIMITED']);
    expect(await send('{ colours }')).toEqual([429, type, 'KEY_BANNED']);
  });

  test('for an overloaded server', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => ask(gateway, PETS, { headers: { accept } })));
    const shed = answers.filter(({ status }) => status !== 200);
    expect(shed.length).toBeGreaterThan(0);
    for (const each of shed) expect(rejection(each)).toEqual([503, type, 'SERVICE_UNAVAILABLE']);
  });

  test('at /graphql/stream', async () => {
    const headers = { accept: accept && `${accept}, text/event-stream` };
    const send = (query: string, key = {}) =>
      ask(gateway, 'POST /graphql/stream', { body: { query }, headers: { ...headers, ...key } });
    expect(rejection(await send(PETS, KEYS['wrong key']))).toEqual([401, type, 'UNAUTHENTICATED']);
    const malformed = { body: { variables: {} }, headers };
    expect(rejection(await ask(gateway, 'POST /graphql/stream', malformed))).toEqual([400, type, 'BAD_REQUEST']);
    // A fault of the operation is an event.
    const answer = await send('subscription { colours }');
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8']);
    expect(answer.text).toMatch(/^retry: 60000\n\nevent: next\ndata: \{"errors":.*\n\nevent: complete\ndata:\n\n$/);
  });
});

test.each(['text/csv', 'image/png', 'application/*;q=0'])(
  'an operation does not run if the client accepts only %s',
  async (accept) => {
    const headers = { accept };
    expect(rejection(await ask(gateway, CREATE, { headers }))).toEqual([406, JSON_TYPE, 'NOT_ACCEPTABLE']);
    expect(rejection(await ask(gateway, 'POST /graphql', { body: '{', headers }))).toEqual([
      400,
      JSON_TYPE,
      'BAD_REQUEST',
    ]);
    expect(await unseen()).toBe(0);
  },
);

const MUTATION = {
  query: 'mutation ($name: String!) { createCategory(input: { name: $name }) { name } }',
  variables: { name: 'Müsli' },
};

describe.each([
  ['/categories', JSON.stringify({ name: 'Müsli' }), {}],
  ['/graphql', JSON.stringify(MUTATION), {}],
  ['/graphql/stream', JSON.stringify(MUTATION), STREAM],
])('POST %s', (url, text, accept) => {
  const latin1 = Buffer.from(text, 'latin1');
  const NOT_UTF8 = 'The body is not valid UTF-8.';
  const IN_UTF8 = 'The body must be in UTF-8.';
  test.each<[what: string, body: string | Buffer, headers: Headers, status?: 400 | 415, message?: string]>([
    ['reads UTF-8', text, {}],
    ['reads UTF-8 after a byte order mark', `\ufeff${text}`, {}],
    ['reads a body declared as UTF-8', text, { 'content-type': 'application/json; charset="UTF-8"' }],
    ['reads a body marked as not compressed', text, { 'content-encoding': 'identity' }],
    ['rejects Latin-1 without a declared charset', latin1, {}, 400, NOT_UTF8],
    ['rejects an incomplete UTF-8 character', Buffer.from(text).subarray(0, text.indexOf('ü') + 1), {}, 400, NOT_UTF8],
    [
      'rejects a body declared as Latin-1',
      latin1,
      { 'content-type': 'application/json; charset=latin1' },
      415,
      IN_UTF8,
    ],
    [
      'rejects UTF-16',
      Buffer.from(text, 'utf16le'),
      { 'content-type': 'application/json;charset=utf-16' },
      415,
      IN_UTF8,
    ],
    ['rejects gzip', gzipSync(text), { 'content-encoding': 'gzip' }, 415, 'The body must not be compressed.'],
    ['rejects XML', text, { 'content-type': 'text/xml' }, 415, 'The body must be application/json.'],
    ['rejects an empty body', '', {}, 400, 'The body must not be empty.'],
  ])('%s', async (_what, body, headers, ...[status, message]) => {
    const answer = await ask(gateway, `POST ${url}`, { body, headers: { ...accept, ...headers } });
    if (!status) expect([answer.status < 300, answer.text]).toEqual([true, expect.stringContaining('"name":"Müsli"')]);
    else expect([answer.status, answer.error]).toMatchObject([status, { status, message }]);
  });

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'TEXT/PLAIN;charset=utf-8',
  ])('rejects %s, which pages of other sites can send without a preflight', async (type) => {
    const headers = { 'content-type': type, origin: 'https://evil.example', ...accept };
    const body = text.replace('Müsli', 'Unseen');
    const { status, headers: received, error } = await ask(gateway, `POST ${url}`, { body, headers });
    const isCsrf = url === '/graphql' && /^text/i.test(type);
    expect([status, error?.requestId]).toEqual([isCsrf ? 400 : 415, received['x-request-id']]);
    expect(await unseen()).toBe(0);
  });
});

describe('GET /graphql', () => {
  const QUERY = 'GET /graphql?query={__typename}';

  test.each<Headers>([
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
    { 'sec-fetch-site': 'same-site', accept: '*/*' },
    { origin: 'https://shop.example' },
    { referer: 'https://shop.example/page' },
    { cookie: 'session=1' },
    { 'content-type': 'text/plain', 'x-apollo-operation-name': 'x' },
    {},
    { 'sec-fetch-site': 'cross-site', 'x-apollo-operation-name': 'x' },
  ])('runs queries of pages of all sites, since no browser adds a key: %j', async (headers) => {
    expect(await ask(gateway, QUERY, { headers })).toMatchObject({ status: 200, code: undefined });
  });

  test.each(['GET', 'HEAD'])('and HEAD run no mutation: %s', async (method) => {
    for (const headers of [{}, { 'content-type': 'application/json' }]) {
      const answer = await ask(gateway, `${method} /graphql?${new URLSearchParams({ query: CREATE })}`, { headers });
      expect([answer.status, answer.headers.allow]).toEqual([405, 'POST']);
    }
    expect(await unseen()).toBe(0);
  });

  test.each<[url: string, headers: Headers]>([
    ['/graphql?query={__typename}', {}],
    ['/graphql?query={', { 'content-type': 'application/json' }],
    ['/graphql', { accept: 'text/html' }],
  ])('and HEAD get the same status and content type; a response to HEAD has no body: %s %j', async (url, headers) => {
    const [get, head] = [await ask(gateway, `GET ${url}`, { headers }), await ask(gateway, `HEAD ${url}`, { headers })];
    expect([head.status, head.headers['content-type'], head.text]).toEqual([
      get.status,
      get.headers['content-type'],
      '',
    ]);
  });
});

test.each([[], {}, { query: '' }, { query: 1 }, { query: PETS, variables: 'x' }, { query: '{' }])(
  'the error for the body %j contains the request id that the client sent',
  async (body) => {
    const answer = await ask(gateway, 'POST /graphql', { body, headers: { 'x-request-id': 'mine' } });
    expect([answer.status, answer.error]).toMatchObject([400, { status: 400, requestId: 'mine' }]);
  },
);

test.each(['a b', '', '[::', 'example.com:99999'])(
  'GraphQL accepts the Host header %j, although it is invalid in a URL',
  async (host) => {
    expect((await ask(gateway, PETS, { headers: { host } })).json).toMatchObject({ data: { pets: { totalCount: 3 } } });
  },
);

describe('a hostile body is rejected quickly and with a short response', () => {
  const nested = (depth: number, inner = '1') => '['.repeat(depth) + inner + ']'.repeat(depth);
  const objects = `${'{"a":'.repeat(16_000)}1${'}'.repeat(16_000)}`;
  const FIELDS = `{${Array.from({ length: 6000 }, (_, i) => `"f${i}":1`).join(',')}}`;
  const query = 'query ($filter: PetFilter) { pets(filter: $filter) { totalCount } }';
  const filtered = (filter: string) => `{"query":${JSON.stringify(query)},"variables":{"filter":${filter}}}`;

  test.each(
    [
      ['POST /pets', `{"name":${nested(50_000)}}`],
      ['POST /pets', `{"name":${nested(50_000, '12345678901234567890')}}`],
      ['POST /pets', `{"name":${objects}}`],
      ['POST /pets', '{"name":"Rex","categoryId":1,"__proto__":{"status":"sold"}}'],
      ['POST /pets', '{"name":"Rex","categoryId":1234567890123456789,"__proto__":{"x":1}}'],
      ['POST /pets', '{"name":"Rex","categoryId":1,"constructor":{"prototype":{"status":"sold"}}}'],
      ['POST /pets', '{"__proto__":null}'],
      ['POST /pets', FIELDS],
      ['POST /graphql', filtered(`{"ids":${nested(40_000)}}`)],
      ['POST /graphql', filtered(`{"ids":${objects}}`)],
      ['POST /graphql', filtered('{"__proto__":{"ids":[1]}}')],
      ['POST /graphql', filtered('{"constructor":{"prototype":{"ids":[1]}}}')],
      ['POST /graphql', filtered(`{"ids":[${Array(20_000).fill('null').join(',')}]}`)],
      ['POST /graphql', filtered(FIELDS)],
      ['POST /graphql', filtered(`{"ids":["${'x'.repeat(90_000)}"]}`)],
    ].map((row) => titled(row, 2)),
  )('%s', async (_title, on = '', body = '') => {
    let best = Number.POSITIVE_INFINITY;
    for (let i = 0; i < 3; i++) {
      const started = process.cpuUsage();
      const { status, code, text, json } = await ask(gateway, on, { body });
      const { user, system } = process.cpuUsage(started);
      best = Math.min(best, (user + system) / 1000);
      expect([status, code]).toEqual([400, expect.stringMatching(/^BAD_/)]);
      expect([json.errors?.length ?? 1, text.length < 20_000]).toEqual([1, true]);
    }
    expect(best).toBeLessThan(100);
    expect({}).not.toHaveProperty('status');
  });

  test('except a GraphQL body with an unknown member, which is accepted', async () => {
    const { status, json } = await ask(gateway, 'POST /graphql', { body: '{"query":"{ __typename }","x":[[[1]]]}' });
    expect([status, json.data]).toEqual([200, { __typename: 'Query' }]);
  });
});

/** @returns the number of categories named `Unseen`. Only mutations that must be rejected would create them. */
async function unseen(): Promise<unknown> {
  return (await gateway.data('{ categories(filter: { name: "Unseen" }) { totalCount } }')).categories?.totalCount;
}
