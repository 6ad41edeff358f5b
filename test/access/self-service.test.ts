import { type Gateway, startGateway, type TestKey } from '../helper/gateway';
import { ask } from '../http/client';

const ROTATE =
  'mutation ($id: ID!, $s: Int!) { it: rotateApiKey(id: $id, graceSeconds: $s) { secret apiKey { id oldSecretExpiresAt } } }';
const REVOKE = 'mutation ($id: ID!) { it: revokeApiKey(id: $id) { id revokedAt } }';

let now = Date.UTC(2026, 10, 28);
let here: Gateway;
let there: Gateway;
beforeAll(async () => {
  here = await startGateway({ ANONYMOUS_ACCESS: 'write' }, () => now);
  there = await here.another({}, () => now);
});
afterAll(async () => {
  await there.close();
  await here.close();
});

const rotate = (secret: string | undefined, id: string, s = 60, gateway = here) =>
  ask(gateway, ROTATE, { variables: { id, s }, headers: { 'x-api-key': secret } });
const revoke = (secret: string | undefined, id: string) =>
  ask(here, REVOKE, { variables: { id }, headers: { 'x-api-key': secret } });
const statusOf = async (secret: string) => (await ask(here, 'GET /pets', { headers: { 'x-api-key': secret } })).status;
const secretIn = ({ json }: Awaited<ReturnType<typeof rotate>>) =>
  String((json.data?.it as { secret?: string })?.secret);

describe('a key with the scope WRITE', () => {
  test('rotates itself, and learns until when its old secret works', async () => {
    const { id, whole } = await here.createKey();
    const rotated = await rotate(whole, id);
    expect(rotated.json.data?.it).toMatchObject({
      apiKey: { id, oldSecretExpiresAt: new Date(now + 60_000).toISOString() },
    });
    expect([await statusOf(secretIn(rotated)), await statusOf(whole)]).toEqual([200, 200]);
  });

  test('revokes itself', async () => {
    const { id, whole } = await here.createKey();
    expect((await revoke(whole, id)).json.data?.it).toEqual({ id, revokedAt: expect.any(String) });
    expect(await statusOf(whole)).toBe(401);
  });

  test('neither rotates nor revokes other keys, whether or not they exist', async () => {
    const [{ whole }, { id: other, whole: theirs }] = [await here.createKey(), await here.createKey()];
    for (const id of [other, 'zzzzzzzzzzzz', '000000000000'])
      for (const answer of [await rotate(whole, id), await revoke(whole, id)])
        expect([answer.status, answer.code, answer.json.data]).toEqual([200, 'FORBIDDEN', { it: null }]);
    expect(await statusOf(theirs)).toBe(200);
  });

  test('neither rotates nor revokes itself by its old secret', async () => {
    const { id, whole } = await here.createKey();
    const secret = secretIn(await rotate(whole, id));
    for (const answer of [await rotate(whole, id), await revoke(whole, id)])
      expect([answer.status, answer.code]).toEqual([200, 'FORBIDDEN']);
    expect([await statusOf(secret), await statusOf(whole)]).toEqual([200, 200]);
    expect((await rotate(secret, id)).code).toBeUndefined();
  });

  test('does not rotate itself by a secret that another instance has just replaced', async () => {
    const { id, whole } = await here.createKey();
    await ask(there, 'GET /pets', { headers: { 'x-api-key': whole } });
    await rotate(whole, id);
    // The other instance still has the key in its cache.
    expect((await rotate(whole, id, 60, there)).code).toBe('FORBIDDEN');
  });
});

test('a key with the scope READ neither rotates nor revokes itself', async () => {
  const { id, whole } = await here.createKey({ scopes: ['READ'] });
  for (const answer of [await rotate(whole, id), await revoke(whole, id)])
    expect([answer.status, answer.code]).toEqual([403, 'FORBIDDEN']);
});

test('an anonymous caller with the scope WRITE neither rotates nor revokes keys', async () => {
  const { id } = await here.createKey();
  for (const answer of [await rotate(undefined, id), await revoke(undefined, id)])
    expect([answer.status, answer.code]).toEqual([200, 'UNAUTHENTICATED']);
});

test('a key with the scope ADMIN rotates and revokes other keys by any of its secrets, but itself only by the current one', async () => {
  const admin = await here.createKey({ scopes: ['ADMIN'] });
  const other = await here.createKey();
  const secret = secretIn(await rotate(admin.whole, admin.id));
  expect((await rotate(admin.whole, admin.id)).code).toBe('FORBIDDEN');
  expect((await rotate(admin.whole, other.id)).code).toBeUndefined();
  expect((await revoke(secret, other.id)).code).toBeUndefined();
  expect((await revoke(secret, 'zzzzzzzzzzzz')).code).toBe('NOT_FOUND');
});

test('rotations and revocations take no idempotency key', async () => {
  const { id, whole } = await here.createKey();
  for (const query of [ROTATE, REVOKE]) {
    const headers = { 'x-api-key': whole, 'idempotency-key': 'a' };
    const refused = await ask(here, query, { variables: { id, s: 60 }, headers });
    expect([refused.status, refused.code, refused.error?.details?.[0]?.path]).toEqual([
      400,
      'BAD_USER_INPUT',
      'Idempotency-Key',
    ]);
  }
  expect(await statusOf(whole)).toBe(200);
});

test('oldSecretExpiresAt is null without an old secret, and once the old secret has expired', async () => {
  const read = async ({ id }: Pick<TestKey, 'id'>) =>
    (await here.data('query ($id: ID!) { apiKey(id: $id) { oldSecretExpiresAt } }', { id })).apiKey?.oldSecretExpiresAt;
  const key = await here.createKey();
  expect(await read(key)).toBeNull();
  const secret = secretIn(await rotate(key.whole, key.id, 60));
  expect(await read(key)).toBe(new Date(now + 60_000).toISOString());
  const { json } = await ask(here, '{ viewer { apiKey { oldSecretExpiresAt } } }', {
    headers: { 'x-api-key': secret },
  });
  expect(JSON.stringify(json.data)).toContain(new Date(now + 60_000).toISOString());
  now += 60_000;
  expect(await read(key)).toBeNull();
  await rotate(secret, key.id, 0);
  expect(await read(key)).toBeNull();
});
