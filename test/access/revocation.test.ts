import { hashSecret, newKey } from '../../src/access/secret';
import { type Gateway, startGateway, type TestKey } from '../helper/gateway';

let here: Gateway;
let there: Gateway;
beforeAll(async () => {
  here = await startGateway({});
  there = await here.another();
});
afterAll(async () => {
  await there.server.close();
  await here.close();
});

const REVOKE = 'mutation ($id: ID!) { revokeApiKey(id: $id) { revokedAt } }';
const UPDATE = 'mutation ($id: ID!, $input: ApiKeyUpdate!) { updateApiKey(id: $id, input: $input) { id } }';

/** Moves the clock on by the five seconds for which an instance trusts what it has looked up. */
function later(): void {
  jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 5_001);
}

async function read(gateway: Gateway, { headers }: TestKey) {
  const { statusCode, headers: answered } = await gateway.server.inject({ url: '/pets', headers });
  return [statusCode, answered['x-ratelimit-limit']];
}

test('a revocation takes effect at once where it is made, and within seconds on other instances', async () => {
  const key = await here.createKey({ plan: 'PRO' });
  for (const instance of [here, there]) expect(await read(instance, key)).toEqual([200, '300']);
  await here.data(REVOKE, { id: key.id });
  expect(await read(here, key)).toEqual([401, '60']);
  later();
  expect(await read(there, key)).toEqual([401, '60']);
});

test('so does a change of plan', async () => {
  const key = await here.createKey();
  for (const instance of [here, there]) expect(await read(instance, key)).toEqual([200, '60']);
  await here.data(UPDATE, { id: key.id, input: { plan: 'BUSINESS' } });
  expect(await read(here, key)).toEqual([200, '1000']);
  later();
  expect(await read(there, key)).toEqual([200, '1000']);
});

test('a key created on one instance is accepted by another, even if it was refused there before', async () => {
  const { id, secret } = newKey();
  const key = { id, whole: `ps_${id}_${secret}`, headers: { 'x-api-key': `ps_${id}_${secret}` } };
  expect(await read(there, key)).toEqual([401, '60']);
  await here.database.prisma.apiKey.create({
    data: { id, secretHash: hashSecret(secret), name: 'late', plan: 'FREE', scopes: ['READ'] },
  });
  later();
  expect(await read(there, key)).toEqual([200, '60']);
});
