import { type Gateway, startGateway, type TestKey } from '../helper/gateway';
import { refusalOf } from '../helper/refusal';
import { ask, PETS } from '../http/client';

const UPDATE =
  'mutation ($id: ID!, $input: ApiKeyUpdate!) { updateApiKey(id: $id, input: $input) { plan perMinute perDay } }';
const CREATE = 'mutation ($input: NewApiKey!) { createApiKey(input: $input) { apiKey { id } } }';
const KEY =
  'query ($id: ID!) { apiKey(id: $id) { plan perMinute perDay sharesQuotaOf bannedUntil rateLimit { plan windows { remaining } } usage(days: 1) { requests refused } } }';

let now = Date.UTC(2026, 10, 28);
let here: Gateway;
let there: Gateway;
beforeAll(async () => {
  here = await startGateway({ BAN_AFTER: '5' }, () => now);
  there = await here.another({ BAN_AFTER: '5' }, () => now);
});
beforeEach(() => {
  now += 2 * 86_400_000;
});
afterEach(() => jest.restoreAllMocks());
afterAll(async () => {
  await there.close();
  await here.close();
});

const ENTERPRISE = { plan: 'ENTERPRISE', perMinute: 10, perDay: 20 };
const shared = (owner: TestKey, input: object = {}) => here.createKey({ sharesQuotaOf: owner.id, ...input });
const use = ({ headers }: TestKey, gateway = here) => ask(gateway, PETS, { headers });
const read = async ({ id }: TestKey) => (await here.data<{ apiKey: Record<string, unknown> }>(KEY, { id })).apiKey;
/** Advances the clock by just over five seconds, the time for which instances cache a key. */
const later = () => jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 5_001);

test('keys of one customer have one plan, and their requests count in the same windows', async () => {
  const owner = await here.createKey(ENTERPRISE);
  const [a, b] = [await shared(owner), await shared(owner)];
  expect(await read(a)).toMatchObject({ ...ENTERPRISE, sharesQuotaOf: owner.id });
  expect(await read(owner)).toMatchObject({ sharesQuotaOf: null });
  for (const [i, key] of [owner, a, b, a, b, owner, a, b, a, b].entries()) {
    const { status, told } = await use(key);
    expect([status, told.remaining]).toEqual([200, 9 - i]);
  }
  for (const key of [owner, a, b]) expect((await use(key)).status).toBe(429);
  // Requests are charged together or not at all.
  now += 60_000;
  expect((await use(a)).told.remaining).toBe(9);
  expect((await read(b)).rateLimit).toEqual({ plan: 'ENTERPRISE', windows: [{ remaining: 9 }, { remaining: 9 }] });
});

test('viewer, rateLimit and GET /rate_limit of a key show the quota that it shares', async () => {
  const owner = await here.createKey({ plan: 'PRO' });
  const key = await shared(owner);
  const { json } = await ask(
    here,
    '{ viewer { plan apiKey { plan sharesQuotaOf } rateLimit { plan windows { limit } } } }',
    { headers: key.headers },
  );
  expect(json.data?.viewer).toEqual({
    plan: 'PRO',
    apiKey: { plan: 'PRO', sharesQuotaOf: owner.id },
    rateLimit: { plan: 'PRO', windows: [{ limit: 300 }, { limit: 10000 }] },
  });
});

test('a change of the plan applies to the keys that share it, at once here and within seconds elsewhere', async () => {
  const owner = await here.createKey({ plan: 'PRO' });
  const key = await shared(owner);
  for (const gateway of [here, there]) expect((await use(key, gateway)).told.limit).toBe(300);
  await here.data(UPDATE, { id: owner.id, input: ENTERPRISE });
  expect((await use(key)).told.limit).toBe(10);
  expect(await read(key)).toMatchObject(ENTERPRISE);
  later();
  expect((await use(key, there)).told.limit).toBe(10);
});

test('each key has separate bans, usage and refusals', async () => {
  const owner = await here.createKey({ ...ENTERPRISE, perMinute: 2 });
  const [greedy, quiet] = [await shared(owner), await shared(owner)];
  await use(quiet);
  await use(greedy);
  for (let i = 0; i < 5; i++) expect((await use(greedy)).code).toBe('RATE_LIMITED');
  expect((await use(greedy)).code).toBe('KEY_BANNED');
  expect((await use(quiet)).code).toBe('RATE_LIMITED');
  expect((await use(owner)).code).toBe('RATE_LIMITED');
  expect(await read(greedy)).toMatchObject({ bannedUntil: expect.any(String), usage: [{ requests: 1, refused: 6 }] });
  expect(await read(quiet)).toMatchObject({ bannedUntil: null, usage: [{ requests: 1, refused: 1 }] });
  const lift = 'mutation ($id: String!) { liftBan(caller: $id) }';
  expect(await here.data(lift, { id: owner.id })).toEqual({ liftBan: false });
  expect(await here.data(lift, { id: greedy.id })).toEqual({ liftBan: true });
  expect((await use(greedy)).code).toBe('RATE_LIMITED');
  now += 60_000;
  expect((await use(greedy)).status).toBe(200);
});

test('each key has separate scopes, expiry and revocation', async () => {
  const owner = await here.createKey({ plan: 'PRO' });
  const reader = await shared(owner, { scopes: ['READ'] });
  const other = await shared(owner);
  const create = (key: TestKey) =>
    ask(here, 'mutation { createCategory(input: { name: "A" }) { id } }', { headers: key.headers });
  expect([(await create(reader)).code, (await create(other)).status]).toEqual(['FORBIDDEN', 200]);
  await here.data('mutation ($id: ID!) { revokeApiKey(id: $id) { id } }', { id: owner.id });
  expect([(await use(owner)).status, (await use(other)).status]).toEqual([401, 200]);
  expect(await read(other)).toMatchObject({ plan: 'PRO', sharesQuotaOf: owner.id });
});

describe('createApiKey', () => {
  test.each<[string, object, string[]]>([
    ['a plan', { plan: 'FREE' }, ['input.plan']],
    ['limits', { perMinute: 1, perDay: 2 }, ['input.perMinute', 'input.perDay']],
  ])('rejects %s beside sharesQuotaOf', async (_what, input, paths) => {
    const owner = await here.createKey();
    const refusal = await refusalOf(here, CREATE, { input: { name: 'a', sharesQuotaOf: owner.id, ...input } });
    expect(refusal).toMatchObject({ code: 'BAD_USER_INPUT', paths });
  });

  test('rejects unknown keys, and keys that share a quota themselves, are revoked or expired', async () => {
    const owner = await here.createKey();
    const sharer = await shared(owner);
    const revoked = await here.createKey();
    await here.data('mutation ($id: ID!) { revokeApiKey(id: $id) { id } }', { id: revoked.id });
    const expired = await here.createKey({ expiresAt: new Date(now - 1000) });
    const codeFor = async (sharesQuotaOf: unknown) => {
      const { code, paths } = await refusalOf(here, CREATE, { input: { name: 'a', sharesQuotaOf } });
      return [code, ...paths];
    };
    for (const { id } of [sharer, revoked, expired])
      expect(await codeFor(id)).toEqual(['BAD_USER_INPUT', 'input.sharesQuotaOf']);
    expect(await codeFor('zzzzzzzzzzzz')).toEqual(['UNKNOWN_REFERENCE', 'input.sharesQuotaOf']);
    for (const id of ['7', 'UGV0OjE', 'x'])
      expect(await codeFor(id)).toEqual(['BAD_USER_INPUT', 'input.sharesQuotaOf']);
  });
});

test('updateApiKey rejects a quota for a key that shares one, and changes its other fields', async () => {
  const owner = await here.createKey({ plan: 'PRO' });
  const { id } = await shared(owner);
  const refusal = await refusalOf(here, UPDATE, { id, input: { plan: 'FREE', perMinute: 1, perDay: 1 } });
  expect(refusal).toMatchObject({ code: 'BAD_USER_INPUT', paths: ['input.plan', 'input.perMinute', 'input.perDay'] });
  expect(await here.data(UPDATE, { id, input: { name: 'b' } })).toMatchObject({ updateApiKey: { plan: 'PRO' } });
});

test('a key that shares a quota is in the lists with the plan that it shares', async () => {
  const owner = await here.createKey(ENTERPRISE);
  const { id } = await shared(owner, { name: 'listed' });
  const { apiKeys } = await here.data('{ apiKeys(search: "listed") { nodes { id plan perMinute sharesQuotaOf } } }');
  expect(apiKeys?.nodes).toEqual([{ id, plan: 'ENTERPRISE', perMinute: 10, sharesQuotaOf: owner.id }]);
});
