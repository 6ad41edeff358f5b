import { ADMIN_KEY, type Gateway, startGateway, type TestKey } from '../helper/gateway';
import { until } from '../helper/until';

let clock = 1_800_000_000_000;
let gateway: Gateway;
let key: TestKey;
beforeAll(async () => {
  gateway = await startGateway({ ANONYMOUS_ACCESS: 'write' }, () => clock);
  key = await gateway.createKey({ plan: 'BUSINESS' });
});
afterAll(() => gateway.close());

type Headers = Record<string, string>;
const read = (headers: Headers, remoteAddress = '192.0.2.200') =>
  gateway.server.inject({ url: '/pets', headers, remoteAddress });

test.each<[string, (whole: string) => Headers, string]>([
  ['X-API-Key', (whole) => ({ 'x-api-key': whole }), '1000'],
  ['Authorization: Bearer', (whole) => ({ authorization: `Bearer ${whole}` }), '1000'],
  [
    'the scheme is case-insensitive (RFC 9110, section 11.1)',
    (whole) => ({ authorization: `bEARER ${whole}` }),
    '1000',
  ],
  [
    'several spaces may precede the credentials (RFC 9110, section 11.4)',
    (whole) => ({ authorization: `Bearer   ${whole}` }),
    '1000',
  ],
  ['X-API-Key wins over Bearer', (whole) => ({ 'x-api-key': whole, authorization: `Bearer ${ADMIN_KEY}` }), '1000'],
  ['without a key, the caller is anonymous and has the plan FREE', () => ({}), '60'],
  ['a key in a cookie is ignored', (whole) => ({ cookie: `x-api-key=${whole}` }), '60'],
])('the caller is identified by its headers: %s', async (_where, headersOf, limit) => {
  const headers = headersOf(key.whole);
  const query = '{ viewer { plan apiKey { id } } }';
  const { data } = await gateway.graphql(query, undefined, { 'x-api-key': undefined, ...headers });
  expect(data.viewer).toEqual(
    limit === '60' ? { plan: 'FREE', apiKey: null } : { plan: 'BUSINESS', apiKey: { id: key.id } },
  );
  const rest = await read(headers);
  expect([rest.statusCode, rest.headers['x-ratelimit-limit']]).toEqual([200, limit]);
});

const SECRET = 'A'.repeat(32);
const ID = 'a'.repeat(12);
const NO_KEY = 'Not an API key: send ps_<id>_<secret> as X-API-Key, or as Authorization: Bearer ps_<id>_<secret>.';
const UNKNOWN_KEY = 'The API key is unknown, or its secret is wrong.';
let addresses = 0;

test.each<[string, (whole: string) => Headers, string?]>([
  ['an unknown key', () => ({ 'x-api-key': `ps_${ID}_${SECRET}` }), UNKNOWN_KEY],
  ['a wrong secret', () => ({ 'x-api-key': `ps_${key.id}_${SECRET}` }), UNKNOWN_KEY],
  ['a secret with a letter in the other case', (whole) => ({ 'x-api-key': swapLastCase(whole) }), UNKNOWN_KEY],
  ['Bearer with an unknown key', () => ({ authorization: `Bearer ps_${ID}_${SECRET}` }), UNKNOWN_KEY],
  ['a key id alone', () => ({ 'x-api-key': key.id })],
  ['a wrong prefix', (whole) => ({ 'x-api-key': whole.replace('ps_', 'sk_') })],
  ['an upper-case key id', () => ({ 'x-api-key': `ps_${'A'.repeat(12)}_${SECRET}` })],
  ['a secret that is too short', (whole) => ({ 'x-api-key': whole.slice(0, -1) })],
  ['a secret that is too long', (whole) => ({ 'x-api-key': `${whole}A` })],
  ['text after the key', (whole) => ({ 'x-api-key': `${whole}, ${whole}` })],
  ['a key of 8,000 characters', () => ({ 'x-api-key': `ps_${ID}_${'A'.repeat(8000)}` })],
  ['a key that contains SQL', () => ({ 'x-api-key': "ps_' or 1=1 --_" })],
  ['the scheme Basic', (whole) => ({ authorization: `Basic ${btoa(`${key.id}:${whole}`)}` })],
  ['a valid key with another scheme', (whole) => ({ authorization: `Token ${whole}` })],
  ['a valid key without a scheme', (whole) => ({ authorization: whole })],
  ['a wrong X-API-Key beside a valid Bearer', (whole) => ({ 'x-api-key': 'x', authorization: `Bearer ${whole}` })],
])('a request with %s gets 401, and uses the quota of its IP address', async (_name, headersOf, message = NO_KEY) => {
  const headers = { ...headersOf(key.whole), origin: 'https://shop.example' };
  const remoteAddress = `192.0.2.${++addresses}`;
  const rest = await read(headers, remoteAddress);
  const graphql = await gateway.server.inject({
    method: 'POST',
    url: '/graphql',
    headers: { ...headers, 'content-type': 'application/json' },
    payload: { query: '{ pets { totalCount } }' },
    remoteAddress,
  });
  const problem = { code: 'UNAUTHENTICATED', status: 401, requestId: expect.any(String) };
  expect(rest.json()).toEqual({ ...problem, message });
  expect(graphql.json()).toEqual({ errors: [{ message, extensions: problem }] });
  for (const [i, response] of [rest, graphql].entries()) {
    expect(response.statusCode).toBe(401);
    expect(response.headers).toMatchObject({
      'www-authenticate': `Bearer realm="petstore", error="invalid_token", error_description="${message}"`,
      'access-control-allow-origin': '*',
      'access-control-expose-headers': expect.stringContaining('WWW-Authenticate'),
      'x-ratelimit-limit': '60',
      'x-ratelimit-remaining': String(59 - i),
    });
  }
});

test('the response does not reveal whether a key id exists', async () => {
  const [unknown, known] = await Promise.all(
    [ID, key.id].map((id, i) => read({ 'x-api-key': `ps_${id}_${SECRET}`, 'x-request-id': 'same' }, `198.51.100.${i}`)),
  );
  expect(unknown?.body).toBe(known?.body);
  expect(Object.keys(unknown?.headers ?? {})).toEqual(Object.keys(known?.headers ?? {}));
});

test('a client that guesses secrets is rate-limited, and does not use the quota of the key', async () => {
  const remaining = async () =>
    (await gateway.server.inject({ url: '/rate_limit', headers: key.headers })).headers['x-ratelimit-remaining'];
  const before = await remaining();
  const guess = async () => (await read({ 'x-api-key': `ps_${key.id}_${SECRET}` }, '203.0.113.1')).statusCode;
  for (let i = 0; i < 60; i++) expect(await guess()).toBe(401);
  expect(await guess()).toBe(429);
  expect(await remaining()).toBe(before);
});

test('only a caller that sends the right secret learns that a key is revoked or expired', async () => {
  const expiresAt = new Date(clock + 60_000).toISOString();
  const [revoked, expired] = [await gateway.createKey(), await gateway.createKey({ expiresAt })];
  await gateway.data('mutation ($id: ID!) { revokeApiKey(id: $id) { revokedAt } }', { id: revoked.id });
  clock += 60_000;
  const message = async (whole: string) => (await read({ 'x-api-key': whole })).json().message;
  expect(await message(revoked.whole)).toBe('The API key was revoked.');
  expect(await message(expired.whole)).toBe(`The API key expired on ${expiresAt}.`);
  for (const { id } of [revoked, expired]) expect(await message(`ps_${id}_${SECRET}`)).toBe(UNKNOWN_KEY);
});

test('preflights, docs and the OpenAPI document are served even with a wrong key', async () => {
  const headers = { 'x-api-key': 'wrong' };
  const preflight = { origin: 'https://shop.example', 'access-control-request-method': 'POST' };
  const statuses = await Promise.all([
    gateway.server.inject({ method: 'OPTIONS', url: '/graphql', headers: { ...headers, ...preflight } }),
    gateway.server.inject({ url: '/docs/rest', headers }),
    gateway.server.inject({ url: '/openapi.json', headers }),
  ]);
  expect(statuses.map(({ statusCode }) => statusCode)).toEqual([204, 200, 200]);
});

test('the time of last use is accurate to a minute; requests with a wrong secret do not change the time', async () => {
  const { id, headers } = await gateway.createKey();
  const lastUsedAt = async () =>
    (await gateway.data('query ($id: ID!) { apiKey(id: $id) { lastUsedAt } }', { id })).apiKey?.lastUsedAt;
  await read({ 'x-api-key': `ps_${id}_${SECRET}` });
  expect(await lastUsedAt()).toBeNull();
  for (const wait of [0, 60_001]) {
    clock += wait;
    await read(headers);
    await until(async () => String(await lastUsedAt()) === new Date(clock).toISOString());
  }
});

function swapLastCase(whole: string): string {
  return whole.replace(/[A-Za-z](?=[^A-Za-z]*$)/, (letter) =>
    letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase(),
  );
}
