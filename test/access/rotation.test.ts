import { Agent } from 'node:http';
import { statement } from '../../src/database/statement';
import { type Gateway, startGateway, type TestKey } from '../helper/gateway';
import { running, socketClient } from '../helper/live';
import { ask } from '../helper/load';
import { refusalOf } from '../helper/refusal';
import { until } from '../helper/until';

const ROTATE = `mutation ($id: ID!, $graceSeconds: Int) {
  rotateApiKey(id: $id, graceSeconds: $graceSeconds) { secret apiKey { id name plan scopes } }
}`;
const DAY_SECONDS = 86_400;

let clock = 1_800_000_000_000;
let here: Gateway;
let there: Gateway;
let url: string;
beforeAll(async () => {
  here = await startGateway({}, () => clock);
  there = await here.another();
  url = await here.listen();
});
afterEach(() => jest.restoreAllMocks());
afterAll(async () => {
  await there.server.close();
  await here.close();
});

/** Rotates a key. @returns its new full text. */
async function rotate({ id }: Pick<TestKey, 'id'>, graceSeconds?: number): Promise<string> {
  const { rotateApiKey } = await here.data(ROTATE, { id, graceSeconds });
  return String(rotateApiKey?.secret);
}

async function read(whole: string, gateway = here): Promise<number> {
  return (await gateway.server.inject({ url: '/pets', headers: { 'x-api-key': whole } })).statusCode;
}

const readAll = (...keys: string[]) => Promise.all(keys.map((whole) => read(whole)));

/** Moves the clock on by the five seconds for which an instance trusts what it has looked up. */
function later(): void {
  jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 5_001);
}

test('a rotated key has a new secret, shown once, and is else the same', async () => {
  const key = await here.createKey({ name: 'Acme', plan: 'PRO', scopes: ['READ'] });
  const { rotateApiKey } = await here.data(ROTATE, { id: key.id });
  expect(rotateApiKey).toEqual({
    secret: expect.stringMatching(new RegExp(`^ps_${key.id}_[0-9A-Za-z]{32}$`)),
    apiKey: { id: key.id, name: 'Acme', plan: 'PRO', scopes: ['READ'] },
  });
  expect(rotateApiKey?.secret).not.toBe(key.whole);
});

describe('the old secret', () => {
  test.each([
    ['a day', undefined, DAY_SECONDS],
    ['as long as it is given', 60, 60],
  ])('works for %s, to the millisecond, on a connection that has sent it too', async (_what, given, seconds) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const { id, whole } = await here.createKey();
    const send = () => ask(url, { path: '/pets', headers: { 'x-api-key': whole } }, agent);
    const fresh = await rotate({ id }, given);
    expect(await readAll(whole, fresh)).toEqual([200, 200]);
    clock += seconds * 1000 - 1;
    expect([await readAll(whole, fresh), (await send()).status]).toEqual([[200, 200], 200]);
    clock += 1;
    expect([await readAll(whole, fresh), (await send()).status]).toEqual([[401, 200], 401]);
    agent.destroy();
  });

  test('ends at once without a grace, within seconds on other instances', async () => {
    const { id, whole } = await here.createKey();
    expect(await read(whole, there)).toBe(200);
    const fresh = await rotate({ id }, 0);
    expect(await readAll(whole, fresh)).toEqual([401, 200]);
    later();
    expect(await read(whole, there)).toBe(401);
  });

  test('is the one before: rotating again during the grace ends the oldest', async () => {
    const { id, whole } = await here.createKey();
    const second = await rotate({ id });
    const third = await rotate({ id }, 60);
    expect(await readAll(whole, second, third)).toEqual([401, 200, 200]);
    const fourth = await rotate({ id }, 0);
    expect(await readAll(whole, second, third, fourth)).toEqual([401, 401, 401, 200]);
  });

  test('ends with the key', async () => {
    const { id, whole } = await here.createKey();
    const fresh = await rotate({ id });
    await here.data('mutation ($id: ID!) { revokeApiKey(id: $id) { id } }', { id });
    expect(await readAll(whole, fresh)).toEqual([401, 401]);
  });

  test('ends its subscriptions when it ends', async () => {
    const { id, whole } = await here.createKey();
    const client = socketClient(url, { apiKey: whole });
    await rotate({ id }, 60);
    const events = client.subscribe('subscription { petChanged { petId } }');
    await until(async () => (await running(here)) === 1);
    clock += 60_000;
    const { answers } = await events.untilOver();
    expect(answers).toMatchObject([{ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] }]);
    client.close();
  });
});

describe('the new secret', () => {
  test('works at once on another instance that knows the key', async () => {
    const { id, whole } = await here.createKey();
    expect(await read(whole, there)).toBe(200);
    expect(await read(await rotate({ id }), there)).toBe(200);
  });

  test('shares the quota, the ban and the idempotency keys of the old one', async () => {
    const key = await here.createKey({ plan: 'ENTERPRISE', perMinute: 3, perDay: 100, scopes: ['WRITE'] });
    const create = (whole: string) =>
      here.server.inject({
        method: 'POST',
        url: '/categories',
        headers: { 'x-api-key': whole, 'idempotency-key': 'rotation', 'content-type': 'application/json' },
        payload: { name: 'Dogs' },
      });
    const first = await create(key.whole);
    const fresh = await rotate(key);
    const second = await create(fresh);
    expect([first, second].map(({ statusCode, headers }) => [statusCode, headers['idempotent-replayed']])).toEqual([
      [201, undefined],
      [201, 'true'],
    ]);
    expect(second.headers['x-ratelimit-remaining']).toBe('1');
    for (let i = 0; i < 22; i++) await read(key.whole);
    const { payload } = await here.server.inject({ url: '/pets', headers: { 'x-api-key': fresh } });
    expect(JSON.parse(payload)).toMatchObject({ code: 'KEY_BANNED' });
  });
});

test('of concurrent rotations the last two secrets work', async () => {
  const { id, whole } = await here.createKey();
  const secrets = await Promise.all([1, 2, 3, 4, 5].map(() => rotate({ id })));
  const answers = await readAll(whole, ...secrets);
  expect(answers.sort()).toEqual([200, 200, 401, 401, 401, 401]);
});

test('wrong secrets for a key make no more than two look-ups in five seconds', async () => {
  const { whole } = await here.createKey();
  const lookUps = jest.spyOn(here.database.prisma.apiKey, 'findUnique');
  const wrong = whole.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'));
  for (const key of [whole, wrong, wrong, whole, wrong]) await read(key);
  expect(lookUps).toHaveBeenCalledTimes(2);
});

describe('refused, with nothing changed, is', () => {
  const row = ({ id }: TestKey) =>
    here.database.query(statement('select * from api_keys where id = $1'), [id]).then(([found]) => found);

  test.each([-1, 2_592_001])('a grace of %i seconds', async (graceSeconds) => {
    const key = await here.createKey();
    const before = await row(key);
    expect(await refusalOf(here, ROTATE, { id: key.id, graceSeconds })).toMatchObject({
      code: 'BAD_USER_INPUT',
      paths: ['graceSeconds'],
    });
    expect(await row(key)).toEqual(before);
  });

  test.each<[string, (key: TestKey) => Promise<unknown>]>([
    ['revoked', ({ id }) => here.data('mutation ($id: ID!) { revokeApiKey(id: $id) { id } }', { id })],
    [
      'expired',
      async () => {
        clock += 60_000;
      },
    ],
  ])('the rotation of a key that is %s', async (_what, end) => {
    const key = await here.createKey({ expiresAt: new Date(clock + 60_000).toISOString() });
    await end(key);
    const before = await row(key);
    expect(await refusalOf(here, ROTATE, { id: key.id })).toMatchObject({ code: 'BAD_USER_INPUT', paths: ['id'] });
    expect(await row(key)).toEqual(before);
  });

  test('that of a key that does not exist', async () => {
    expect(await refusalOf(here, ROTATE, { id: 'zzzzzzzzzzzz' })).toMatchObject({ code: 'NOT_FOUND' });
    expect(await refusalOf(here, ROTATE, { id: '7' })).toMatchObject({ code: 'BAD_USER_INPUT', paths: ['id'] });
  });
});
