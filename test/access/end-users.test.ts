import { createHash } from 'node:crypto';
import { Tokens } from '../../src/access/tokens';
import type { Gateway } from '../helper/gateway';
import { socketClient } from '../helper/live';
import { ask } from '../http/client';
import { bearer, type IdentityProvider, startWithProvider } from './identity-provider';

let provider: IdentityProvider;
let gateway: Gateway;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ provider, gateway, stop } = await startWithProvider({ JWT_PLAN: 'pro', JWT_SCOPE_CLAIM: 'roles' }));
});
afterAll(() => stop());

const idOf = (sub: string) =>
  `user:${createHash('sha256').update(`${provider.issuer}\n${sub}`).digest('base64url').slice(0, 22)}`;
let users = 0;
/** The headers of a user whom no other test has. */
const signIn = async (claims = {}) => bearer(await provider.sign({ sub: `user ${++users}`, ...claims }));
const seconds = (delta: number) => Math.floor(Date.now() / 1000) + delta;

test('a user has a separate id, plan and scopes, and no usage', async () => {
  const { json } = await ask(
    gateway,
    '{ viewer { user callerId plan scopes apiKey { id } usage { date } rateLimit { windows { limit } } } }',
    { headers: await signIn({ sub: 'ann' }) },
  );
  expect(json.data).toEqual({
    viewer: {
      user: 'ann',
      callerId: idOf('ann'),
      plan: 'PRO',
      scopes: ['READ', 'ORDER'],
      apiKey: null,
      usage: [],
      rateLimit: { windows: [{ limit: 300 }, { limit: 10_000 }] },
    },
  });
});

test('two users of one address have separate quotas, and do not use the quota of the address', async () => {
  const [ann, ben] = [await signIn(), await signIn()];
  const from = '198.51.100.7';
  for (let i = 0; i < 3; i++) await ask(gateway, 'GET /pets', { headers: ann, from });
  expect((await ask(gateway, 'GET /pets', { headers: ann, from })).told).toMatchObject({ limit: 300, remaining: 296 });
  expect((await ask(gateway, 'GET /pets', { headers: ben, from })).told).toMatchObject({ limit: 300, remaining: 299 });
  const anonymous = await ask(gateway, 'GET /rate_limit', { headers: { 'x-api-key': undefined }, from });
  expect(anonymous.told).toMatchObject({ limit: 60, remaining: 60 });
});

test('all users together are one entry of topCallers, apart from anonymous callers', async () => {
  const top = async () => {
    const data = await gateway.data('{ topCallers(first: 100) { kind requests apiKey { id } } }');
    const together = data.topCallers?.map((entry) => entry).filter(({ apiKey }) => apiKey === null) ?? [];
    return Object.fromEntries(together.map(({ kind, requests }) => [String(kind), Number(requests)]));
  };
  const [before, users] = [await top(), [await signIn(), await signIn()]];
  for (const headers of [...users, ...users, { 'x-api-key': undefined }]) await ask(gateway, 'GET /pets', { headers });
  const { USERS = 0, ANONYMOUS = 0 } = before;
  expect(await top()).toEqual({ USERS: USERS + 4, ANONYMOUS: ANONYMOUS + 1 });
});

describe('a user', () => {
  const order = (input: string) => `mutation { placeOrder(input: { ${input} }) { id complete } }`;

  test('may place, change and cancel orders, but not complete them', async () => {
    const headers = await signIn();
    const placed = await ask(gateway, order('quantity: 1'), { headers });
    expect(placed.json.data).toEqual({ placeOrder: { id: expect.any(String), complete: false } });
    const id = String(placed.json.data?.placeOrder?.id);
    const changed = await ask(gateway, `mutation { updateOrder(id: ${id}, input: { quantity: 2 }) { quantity } }`, {
      headers,
    });
    expect(changed.json.data).toEqual({ updateOrder: { quantity: 2 } });
    const forbidden = [
      order('complete: true'),
      `mutation { updateOrder(id: ${id}, input: { complete: false }) { id } }`,
      'mutation { createPet(input: { name: "Rex", categoryId: 1 }) { id } }',
    ];
    for (const text of forbidden) {
      const { error } = await ask(gateway, text, { headers });
      expect(error).toMatchObject({ code: 'FORBIDDEN', message: expect.stringContaining('needs the scope WRITE') });
    }
    const byRest = await ask(gateway, 'POST /store/orders', { headers, body: { quantity: 1, complete: true } });
    expect(byRest).toMatchObject({ status: 403, code: 'FORBIDDEN' });
    await ask(gateway, `mutation { updateOrder(id: ${id}, input: { complete: true }) { id } }`);
    const cancelled = `mutation { cancelOrder(id: ${id}) { id } }`;
    expect((await ask(gateway, cancelled, { headers })).code).toBe('FORBIDDEN');
    expect((await ask(gateway, cancelled)).json.data).toEqual({ cancelOrder: { id } });
  });

  test.each(['REST', 'GraphQL'])(
    'that lacked WRITE repeats its request over %s with the same idempotency key and a token that has WRITE',
    async (interfaceName) => {
      const key = { 'idempotency-key': 'complete' };
      const sub = `grows over ${interfaceName}`;
      const send = async (claims: object) => {
        const headers = { ...(await signIn({ sub, ...claims })), ...key };
        if (interfaceName === 'GraphQL') return ask(gateway, order('complete: true'), { headers });
        return ask(gateway, 'POST /store/orders', { headers, body: { complete: true } });
      };
      expect(await send({})).toMatchObject({ status: interfaceName === 'REST' ? 403 : 200, code: 'FORBIDDEN' });
      const placed = await send({ roles: ['write'] });
      expect([placed.status, placed.code]).toEqual([interfaceName === 'REST' ? 201 : 200, undefined]);
      expect(placed.headers).not.toHaveProperty('idempotent-replayed');
      expect(await send({ roles: ['write'] })).toMatchObject({ headers: { 'idempotent-replayed': 'true' } });
    },
  );

  test('with WRITE in the claim may do so', async () => {
    const headers = await signIn({ roles: ['write'] });
    expect((await ask(gateway, order('complete: true'), { headers })).json.data).toMatchObject({
      placeOrder: { complete: true },
    });
  });
});

test('ORDER is not granted to keys, and a key without WRITE is told that it needs WRITE', async () => {
  const input = { name: 'shop', scopes: ['ORDER', 'READ'] };
  const { error } = await ask(gateway, 'mutation ($i: NewApiKey!) { createApiKey(input: $i) { secret } }', {
    variables: { i: input },
  });
  expect(error).toMatchObject({ code: 'BAD_USER_INPUT', details: [{ path: 'input.scopes' }] });
  const reader = await gateway.createKey({ scopes: ['READ'] });
  const refused = await ask(gateway, 'mutation { placeOrder(input: {}) { id } }', { headers: reader.headers });
  expect(refused.error?.message).toBe(
    'This operation needs an API key with the scope WRITE; this key does not have it.',
  );
});

test.each<[what: string, claims: object]>([
  ['a user', {}],
  ['the expired tokens of a user', { exp: seconds(-60) }],
])('a ban of %s is lifted by the id of the user', async (what, claims) => {
  const headers = await signIn({ sub: what, roles: [], ...claims });
  const id = idOf(what);
  const overAndOver = async (count: number) => {
    for (let i = 0; i < count; i++) await ask(gateway, 'GET /nowhere', { headers });
  };
  await overAndOver(330);
  expect((await ask(gateway, 'GET /pets', { headers })).code).toBe('KEY_BANNED');
  const lift = () => gateway.data(`mutation { liftBan(caller: "${id}") }`);
  expect([await lift(), await lift()]).toEqual([{ liftBan: true }, { liftBan: false }]);
  expect((await ask(gateway, 'GET /pets', { headers })).code).toBe('RATE_LIMITED');
});

describe('a token that is not accepted', () => {
  test.each<[why: string, token: () => Promise<string> | string, message: RegExp]>([
    ['expired', () => provider.sign({ exp: seconds(-60) }), /^The token has expired\.$/],
    ['for another audience', () => provider.sign({ aud: 'bank' }), /another audience/],
    ['forged', async () => `${(await provider.sign()).slice(0, -8)}AAAAAAAA`, /signature/],
    ['malformed', () => 'a.b.c', /malformed/],
  ])('gets 401 with the reason: %s', async (_why, token, message) => {
    for (const on of ['GET /pets', '{ pets { totalCount } }']) {
      const { status, error, headers } = await ask(gateway, on, {
        headers: bearer(await token()),
        from: '198.51.100.9',
      });
      expect([status, error?.code, error?.message]).toEqual([401, 'UNAUTHENTICATED', expect.stringMatching(message)]);
      expect(headers['www-authenticate']).toBe(
        `Bearer realm="petstore", error="invalid_token", error_description="${error?.message}"`,
      );
    }
  });

  test('is charged to a count of its user if it is genuine, else to its address', async () => {
    const from = '198.51.100.11';
    const expired = bearer(await provider.sign({ sub: 'tab', exp: seconds(-60) }));
    for (let i = 0; i < 5; i++) await ask(gateway, 'GET /pets', { headers: expired, from });
    const valid = await ask(gateway, 'GET /rate_limit', { headers: bearer(await provider.sign({ sub: 'tab' })), from });
    expect(valid.told.remaining).toBe(300);
    const anonymous = { 'x-api-key': undefined };
    expect((await ask(gateway, 'GET /rate_limit', { headers: anonymous, from })).told.remaining).toBe(60);
    for (let i = 0; i < 5; i++) await ask(gateway, 'GET /pets', { headers: bearer('a.b.c'), from });
    expect((await ask(gateway, 'GET /rate_limit', { headers: anonymous, from })).told.remaining).toBe(55);
  });

  test('is looked up twice per second at a banned address if its key id is unknown; known users are served', async () => {
    const from = '198.51.100.13';
    const known = await signIn();
    expect((await ask(gateway, 'GET /pets', { headers: known, from })).status).toBe(200);
    const anonymous = { 'x-api-key': undefined };
    for (let i = 0; i < 81; i++) await ask(gateway, 'GET /nowhere', { headers: anonymous, from });
    expect((await ask(gateway, 'GET /pets', { headers: anonymous, from })).code).toBe('KEY_BANNED');
    const sign = (_: unknown, i: number) => provider.sign({ sub: `stranger ${i}` }, { kid: `invented ${i}` });
    const tokens = await Promise.all(Array.from({ length: 50 }, sign));
    const verify = jest.spyOn(Tokens.prototype, 'verify');
    const send = (token: string) => ask(gateway, 'GET /pets', { headers: bearer(token), from });
    const answers = await Promise.all(tokens.map(send));
    expect(verify).toHaveBeenCalledTimes(2);
    verify.mockRestore();
    const rejected = answers.filter(({ code }) => code === 'RATE_LIMITED');
    expect(rejected).toHaveLength(48);
    for (const { status, told } of rejected) expect([status, told.retryAfter]).toEqual([429, 1]);
    expect((await ask(gateway, 'GET /pets', { headers: known, from })).status).toBe(200);
  });

  test('gets 503 with Retry-After if the signing keys are out of reach', async () => {
    const { told, status, code } = await ask(gateway, 'GET /pets', {
      headers: bearer(await provider.sign({}, { kid: 'new' })),
      from: '198.51.100.12',
    });
    // Without a read of the keys in the last 5 seconds, the key is known to be unknown.
    if (status !== 401)
      expect([status, code, told.retryAfter]).toEqual([503, 'SERVICE_UNAVAILABLE', expect.any(Number)]);
    const again = await ask(gateway, 'GET /pets', {
      headers: bearer(await provider.sign({}, { kid: 'newer' })),
      from: '198.51.100.12',
    });
    expect([again.status, again.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(again.told.retryAfter).toBeGreaterThan(0);
  });
});

describe('over WebSocket, a token', () => {
  let url: string;
  beforeAll(async () => {
    url = await gateway.listen();
  });

  test('identifies the user, and the connection closes with 4403 when the token ends', async () => {
    const client = socketClient(url, await signIn({ sub: 'live' }));
    const viewer = await client.subscribe('{ viewer { user } }').untilOver();
    expect(viewer.answers).toMatchObject([{ data: { viewer: { user: 'live' } } }]);
    client.close();
    // Tokens are accepted for 30 s after their end.
    const ending = socketClient(url, await signIn({ exp: seconds(-28) }));
    const running = await ending.subscribe('subscription { petChanged { kind } }').untilOver();
    expect(running.error).toMatchObject({ code: 4403 });
    ending.close();
  });

  test('that is not accepted closes with 4403', async () => {
    const client = socketClient(url, { Authorization: 'Bearer a.b.c' });
    const { error } = await client.subscribe('{ viewer { user } }').untilOver();
    expect(error).toMatchObject({ code: 4403 });
    client.close();
  });
});
