import { ADMIN_KEY, type Gateway, startGateway, type TestKey } from '../helper/gateway';
import { until } from '../helper/until';

const START = 1_800_000_000_000;
let clock = START;
let gateway: Gateway;
let key: TestKey;
beforeAll(async () => {
  gateway = await startGateway({ ANONYMOUS_ACCESS: 'write' }, () => clock);
  key = await gateway.createKey({ plan: 'BUSINESS' });
});
afterAll(() => gateway.close());

/** The caller that the gateway recognises by these headers. */
async function viewer(headers: Record<string, string | undefined>): Promise<object | null> {
  const { data } = await gateway.graphql('{ viewer { plan apiKey { id } } }', undefined, {
    'x-api-key': undefined,
    ...headers,
  });
  return data.viewer ?? null;
}

describe('a key is read from', () => {
  test.each<[string, (whole: string) => Record<string, string>]>([
    ['X-API-Key', (whole) => ({ 'x-api-key': whole })],
    ['Authorization: Bearer', (whole) => ({ authorization: `Bearer ${whole}` })],
    ['a scheme in any case (RFC 9110, section 11.1)', (whole) => ({ authorization: `bEARER ${whole}` })],
    ['credentials after several spaces (RFC 9110, section 11.4)', (whole) => ({ authorization: `Bearer   ${whole}` })],
    ['X-API-Key, if both are sent', (whole) => ({ 'x-api-key': whole, authorization: `Bearer ${ADMIN_KEY}` })],
  ])('%s', async (_where, headers) => {
    expect(await viewer(headers(key.whole))).toEqual({ plan: 'BUSINESS', apiKey: { id: key.id } });
    const rest = await gateway.server.inject({ url: '/pets', headers: headers(key.whole) });
    expect([rest.statusCode, rest.headers['x-ratelimit-limit']]).toEqual([200, '1000']);
  });

  test('neither: the caller is anonymous, on the plan FREE', async () => {
    expect(await viewer({})).toEqual({ plan: 'FREE', apiKey: null });
    const rest = await gateway.server.inject({ url: '/pets' });
    expect([rest.statusCode, rest.headers['x-ratelimit-limit']]).toEqual([200, '60']);
  });
});

describe('refused with 401 on both interfaces, and counted against the address', () => {
  const secret = 'A'.repeat(32);
  const id = 'a'.repeat(12);
  const wrong: [string, () => Record<string, string>][] = [
    ['an unknown key', () => ({ 'x-api-key': `ps_${id}_${secret}` })],
    ['a wrong secret', () => ({ 'x-api-key': `ps_${key.id}_${secret}` })],
    ['a secret with one letter in the other case', () => ({ 'x-api-key': swapLastCase(key.whole) })],
    ['an empty key', () => ({ 'x-api-key': '' })],
    ['a key id alone', () => ({ 'x-api-key': key.id })],
    ['another prefix', () => ({ 'x-api-key': key.whole.replace('ps_', 'sk_') })],
    ['an upper-case key id', () => ({ 'x-api-key': `ps_${'A'.repeat(12)}_${secret}` })],
    ['a secret too short', () => ({ 'x-api-key': key.whole.slice(0, -1) })],
    ['a secret too long', () => ({ 'x-api-key': `${key.whole}A` })],
    ['text after the key', () => ({ 'x-api-key': `${key.whole}, ${key.whole}` })],
    ['a key of 8,000 characters', () => ({ 'x-api-key': `ps_${id}_${'A'.repeat(8000)}` })],
    ['SQL', () => ({ 'x-api-key': "ps_' or 1=1 --_" })],
    ['Bearer without a key', () => ({ authorization: 'Bearer' })],
    ['Bearer with an unknown key', () => ({ authorization: `Bearer ps_${id}_${secret}` })],
    ['the scheme Basic', () => ({ authorization: `Basic ${btoa(`${key.id}:${key.whole}`)}` })],
    ['a valid key with another scheme', () => ({ authorization: `Token ${key.whole}` })],
    ['a valid key without a scheme', () => ({ authorization: key.whole })],
    ['a wrong X-API-Key beside a valid Bearer', () => ({ 'x-api-key': 'x', authorization: `Bearer ${key.whole}` })],
  ];

  const NO_KEY = 'Not an API key: send ps_<id>_<secret> as X-API-Key, or as Authorization: Bearer ps_<id>_<secret>.';
  /** Those that have the form of a key. */
  const UNKNOWN = [
    'an unknown key',
    'a wrong secret',
    'a secret with one letter in the other case',
    'Bearer with an unknown key',
  ];

  test.each(wrong)('%s', async (name, headers) => {
    const remoteAddress = addressOf(wrong.findIndex(([each]) => each === name));
    const origin = 'https://shop.example';
    const rest = await gateway.server.inject({
      url: '/pets',
      headers: { ...headers(), origin },
      remoteAddress,
    });
    const graphql = await gateway.server.inject({
      method: 'POST',
      url: '/graphql',
      headers: { ...headers(), origin, 'content-type': 'application/json' },
      payload: { query: '{ pets { totalCount } }' },
      remoteAddress,
    });

    const isKey = UNKNOWN.includes(name);
    const message = isKey ? 'The API key is unknown, or its secret is wrong.' : NO_KEY;
    const problem = { code: 'UNAUTHENTICATED', status: 401, requestId: expect.any(String) };
    expect(rest.json()).toEqual({ ...problem, message });
    expect(graphql.json()).toEqual({ errors: [{ message, extensions: problem }] });
    for (const [response, remaining] of [
      [rest, '59'],
      [graphql, '58'],
    ] as const) {
      expect(response.statusCode).toBe(401);
      expect(response.headers['www-authenticate']).toBe('Bearer realm="petstore", error="invalid_token"');
      expect(response.headers['access-control-allow-origin']).toBe('*');
      expect(response.headers['access-control-expose-headers']).toContain('WWW-Authenticate');
      expect(response.headers).toMatchObject({
        'x-ratelimit-limit': '60',
        'x-ratelimit-remaining': remaining,
      });
    }
  });

  test('the response does not reveal whether the key id exists', async () => {
    const answers = await Promise.all(
      [`ps_${id}_${secret}`, `ps_${key.id}_${secret}`].map((presented, i) =>
        gateway.server.inject({
          url: '/pets',
          headers: { 'x-api-key': presented, 'x-request-id': 'same' },
          remoteAddress: `198.51.100.${i + 1}`,
        }),
      ),
    );
    expect(answers[0]?.body).toBe(answers[1]?.body);
    expect(Object.keys(answers[0]?.headers ?? {})).toEqual(Object.keys(answers[1]?.headers ?? {}));
  });

  test('guessing keys ends in 429, and costs the guessed key nothing', async () => {
    const guess = () =>
      gateway.server.inject({
        url: '/pets',
        headers: { 'x-api-key': `ps_${key.id}_${secret}` },
        remoteAddress: '203.0.113.1',
      });
    const before = await remainingOf(key);
    for (let i = 0; i < 60; i++) expect((await guess()).statusCode).toBe(401);
    expect((await guess()).statusCode).toBe(429);
    expect(await remainingOf(key)).toBe(before);
  });
});

describe('a key that is no longer valid', () => {
  const read = (headers: Record<string, string>) => gateway.server.inject({ url: '/pets', headers });

  test('revoked: refused from the next request on', async () => {
    const revoked = await gateway.createKey();
    expect((await read(revoked.headers)).statusCode).toBe(200);
    await gateway.data('mutation ($id: ID!) { revokeApiKey(id: $id) { revokedAt } }', { id: revoked.id });
    const { statusCode, json } = await read(revoked.headers);
    expect([statusCode, json().message]).toEqual([401, 'The API key was revoked.']);
    // Who does not have its secret is not told.
    const guess = await read({ 'x-api-key': `ps_${revoked.id}_${'A'.repeat(32)}` });
    expect(guess.json().message).toBe('The API key is unknown, or its secret is wrong.');
  });

  test('expired: accepted until the last millisecond, then refused', async () => {
    const expiresAt = new Date(clock + 60_000).toISOString();
    const expiring = await gateway.createKey({ expiresAt });
    clock += 59_999;
    expect((await read(expiring.headers)).statusCode).toBe(200);
    clock += 1;
    const { statusCode, json } = await read(expiring.headers);
    expect([statusCode, json().message]).toEqual([401, `The API key expired on ${expiresAt}.`]);
  });
});

test('what needs no key accepts a wrong one: preflights, docs, the OpenAPI document', async () => {
  const headers = { 'x-api-key': 'wrong' };
  const preflight = { origin: 'https://shop.example', 'access-control-request-method': 'POST' };
  const statuses = await Promise.all([
    gateway.server.inject({ method: 'OPTIONS', url: '/graphql', headers: { ...headers, ...preflight } }),
    gateway.server.inject({ url: '/docs/rest', headers }),
    gateway.server.inject({ url: '/openapi.json', headers }),
  ]);
  expect(statuses.map(({ statusCode }) => statusCode)).toEqual([204, 200, 200]);
});

test('the time of last use is accurate to a minute; a wrong secret does not count as use', async () => {
  const used = await gateway.createKey();
  const lastUsedAt = async () => {
    const { apiKeys } = await gateway.data('{ apiKeys(first: 1) { nodes { id lastUsedAt } } }');
    expect(apiKeys?.nodes?.[0]?.id).toBe(used.id);
    return apiKeys?.nodes?.[0]?.lastUsedAt;
  };
  const read = (headers: Record<string, string>) => gateway.server.inject({ url: '/pets', headers });

  await read({ 'x-api-key': `ps_${used.id}_${'A'.repeat(32)}` });
  expect(await lastUsedAt()).toBeNull();
  for (const wait of [0, 60_001]) {
    clock += wait;
    const at = new Date(clock).toISOString();
    await read(used.headers);
    await until(async () => String(await lastUsedAt()) === at);
  }
});

function swapLastCase(whole: string): string {
  return whole.replace(/[A-Za-z](?=[^A-Za-z]*$)/, (letter) =>
    letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase(),
  );
}

/** Each row of a table calls from its own address. */
function addressOf(row: number): string {
  return `192.0.2.${row + 1}`;
}

async function remainingOf({ headers }: TestKey): Promise<number> {
  const { data } = await gateway.graphql('{ rateLimit { windows { remaining } } }', undefined, headers);
  return Number(data.rateLimit?.windows?.[0]?.remaining);
}
