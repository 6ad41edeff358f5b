import { Agent } from 'node:http';
import { hashSecret, newKey } from '../../src/access/key-format';
import { statement } from '../../src/database/statement';
import { type Gateway, startGateway, type TestKey } from '../helper/gateway';
import { running, socketClient } from '../helper/live';
import { ask } from '../helper/load';
import { watchLookUps } from '../helper/look-ups';
import { refusalOf } from '../helper/refusal';
import { until } from '../helper/until';

const ROTATE = `mutation ($id: ID!, $graceSeconds: Int) {
  rotateApiKey(id: $id, graceSeconds: $graceSeconds) { secret apiKey { id name plan scopes } }
}`;
const UPDATE = 'mutation ($id: ID!, $input: ApiKeyUpdate!) { updateApiKey(id: $id, input: $input) { id } }';

let clock = 1_800_000_000_000;
let here: Gateway;
let there: Gateway;
let url: string;
let connections = 0;
beforeAll(async () => {
  here = await startGateway({}, () => clock);
  there = await here.another();
  here.server.server.on('connection', () => {
    connections += 1;
  });
  url = await here.listen();
});
afterEach(() => jest.restoreAllMocks());
afterAll(async () => {
  await there.close();
  await here.close();
});

/** Rotates a key. @returns the whole key with its new secret: `ps_<id>_<secret>`. */
async function rotate({ id }: Pick<TestKey, 'id'>, graceSeconds?: number): Promise<string> {
  const { rotateApiKey } = await here.data(ROTATE, { id, graceSeconds });
  return String(rotateApiKey?.secret);
}

const revoke = ({ id }: Pick<TestKey, 'id'>) =>
  here.data('mutation ($id: ID!) { revokeApiKey(id: $id) { id } }', { id });

async function read(whole: string, gateway = here): Promise<number> {
  return (await gateway.server.inject({ url: '/pets', headers: { 'x-api-key': whole } })).statusCode;
}

const readAll = (...keys: string[]) => Promise.all(keys.map((whole) => read(whole)));

/** Advances the clock by just over five seconds, the time for which instances cache a key. */
function later(): void {
  jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 5_001);
}

/** Changes the character of the secret at position `at`. @returns the whole key. */
function wrong(whole: string, at = 31): string {
  const position = whole.length - 32 + at;
  return whole.slice(0, position) + (whole[position] === 'a' ? 'b' : 'a') + whole.slice(position + 1);
}

describe('the rotation of a key', () => {
  test('creates a new secret, which is shown once, and changes no other field', async () => {
    const { id, whole } = await here.createKey({ name: 'Acme', plan: 'PRO', scopes: ['READ'] });
    const { rotateApiKey } = await here.data(ROTATE, { id });
    expect(rotateApiKey).toEqual({
      secret: expect.stringMatching(new RegExp(`^ps_${id}_[0-9A-Za-z]{32}$`)),
      apiKey: { id, name: 'Acme', plan: 'PRO', scopes: ['READ'] },
    });
    expect(rotateApiKey?.secret).not.toBe(whole);
  });

  test.each([
    ['a day', undefined, 86_400],
    ['the given time', 60, 60],
  ])(
    'keeps the old secret valid for exactly %s, even on a connection that has sent this secret before',
    async (_what, given, seconds) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const { id, whole } = await here.createKey();
      const send = async () => (await ask(url, { path: '/pets', headers: { 'x-api-key': whole } }, agent)).status;
      const fresh = await rotate({ id }, given);
      clock += seconds * 1000 - 1;
      expect([await readAll(whole, fresh), await send()]).toEqual([[200, 200], 200]);
      clock += 1;
      expect([await readAll(whole, fresh), await send()]).toEqual([[401, 200], 401]);
      agent.destroy();
    },
  );

  test('with graceSeconds 0, ends the old secret at once, and within 5 s on other instances', async () => {
    const { id, whole } = await here.createKey();
    expect(await read(whole, there)).toBe(200);
    const fresh = await rotate({ id }, 0);
    expect(await readAll(whole, fresh)).toEqual([401, 200]);
    expect(await read(fresh, there)).toBe(200);
    later();
    expect(await read(whole, there)).toBe(401);
  });

  test('keeps only the last two secrets valid, even after concurrent rotations; a revocation ends both', async () => {
    const { id, whole } = await here.createKey();
    const second = await rotate({ id });
    const third = await rotate({ id }, 60);
    expect(await readAll(whole, second, third)).toEqual([401, 200, 200]);
    const secrets = await Promise.all([1, 2, 3, 4, 5].map(() => rotate({ id })));
    expect((await readAll(third, ...secrets)).sort()).toEqual([200, 200, 401, 401, 401, 401]);
    await revoke({ id });
    expect(new Set(await readAll(...secrets))).toEqual(new Set([401]));
  });

  test('at the end of the grace period, ends the subscriptions that use the old secret', async () => {
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

  test("keeps the key's quota, ban and idempotency keys", async () => {
    const key = await here.createKey({ plan: 'ENTERPRISE', perMinute: 3, perDay: 100, scopes: ['WRITE'] });
    const create = async (whole: string) => {
      const { statusCode, headers } = await here.server.inject({
        method: 'POST',
        url: '/categories',
        headers: { 'x-api-key': whole, 'idempotency-key': 'rotation', 'content-type': 'application/json' },
        payload: { name: 'Dogs' },
      });
      return [statusCode, headers['idempotent-replayed'], headers['x-ratelimit-remaining']];
    };
    expect(await create(key.whole)).toEqual([201, undefined, '2']);
    const fresh = await rotate(key);
    expect(await create(fresh)).toEqual([201, 'true', '1']);
    for (let i = 0; i < 22; i++) await read(key.whole);
    const { payload } = await here.server.inject({ url: '/pets', headers: { 'x-api-key': fresh } });
    expect(JSON.parse(payload)).toMatchObject({ code: 'KEY_BANNED' });
  });

  test.each<[string, object, object, (key: TestKey) => unknown]>([
    ['a negative grace period', { graceSeconds: -1 }, { paths: ['graceSeconds'] }, () => undefined],
    ['a grace period above 30 days', { graceSeconds: 2_592_001 }, { paths: ['graceSeconds'] }, () => undefined],
    ['a revoked key', {}, { paths: ['id'] }, revoke],
    [
      'an expired key',
      {},
      { paths: ['id'] },
      () => {
        clock += 60_000;
      },
    ],
    ['a malformed id', { id: '7' }, { paths: ['id'] }, () => undefined],
    ['an unknown id', { id: 'zzzzzzzzzzzz' }, { code: 'NOT_FOUND', paths: [] }, () => undefined],
  ])('changes nothing if it is rejected because of %s', async (_what, variables, expected, prepare) => {
    const key = await here.createKey({ expiresAt: new Date(clock + 60_000).toISOString() });
    await prepare(key);
    const row = () => here.database.serviceSession().query(statement('select * from api_keys where id = $1'), [key.id]);
    const before = await row();
    const refusal = await refusalOf(here, ROTATE, { id: key.id, ...variables });
    expect(refusal).toMatchObject({ code: 'BAD_USER_INPUT', ...expected });
    expect(await row()).toEqual(before);
  });
});

describe('a change takes effect at once on the same instance, and within 5 s on other instances', () => {
  async function status(gateway: Gateway, { headers }: Pick<TestKey, 'headers'>) {
    const response = await gateway.server.inject({ url: '/pets', headers });
    return [response.statusCode, response.headers['x-ratelimit-limit']];
  }

  test.each<[string, (key: TestKey) => Promise<unknown>, [number, string]]>([
    ['a revocation', revoke, [401, '60']],
    ['a change of plan', ({ id }) => here.data(UPDATE, { id, input: { plan: 'BUSINESS' } }), [200, '1000']],
  ])('if it is %s', async (_what, change, expected) => {
    const key = await here.createKey({ plan: 'PRO' });
    for (const instance of [here, there]) expect(await status(instance, key)).toEqual([200, '300']);
    await change(key);
    expect(await status(here, key)).toEqual(expected);
    later();
    expect(await status(there, key)).toEqual(expected);
  });

  test('if it is the creation of a key, even on an instance that rejected the key before', async () => {
    const { id, secret } = newKey();
    const key = { headers: { 'x-api-key': `ps_${id}_${secret}` } };
    expect(await status(there, key)).toEqual([401, '60']);
    await here.database.prisma.apiKey.create({
      data: { id, secretHash: hashSecret(secret), name: 'late', plan: 'FREE', scopes: ['READ'] },
    });
    later();
    expect(await status(there, key)).toEqual([200, '60']);
  });
});

describe('look-ups of keys', () => {
  test('concurrent requests with the same key id share a look-up, but the secret of each request is checked', async () => {
    const { id, whole } = await here.createKey();
    const lookUps = watchLookUps(here.database);
    expect(await readAll(whole, whole, wrong(whole))).toEqual([200, 200, 401]);
    expect(lookUps).toEqual([id]);
  });

  test('wrong secrets for a key cause no more than two look-ups in 5 s', async () => {
    const { whole } = await here.createKey();
    const lookUps = watchLookUps(here.database);
    for (const key of [whole, wrong(whole), wrong(whole), whole, wrong(whole)]) await read(key);
    expect(lookUps).toHaveLength(2);
  });

  /** Holds back the results of look-ups of a key. @returns functions that each release the result of one look-up. */
  function slowLookUps({ id }: TestKey): (() => void)[] {
    const responses: (() => void)[] = [];
    watchLookUps(here.database, async (lookUp, lookedUp) => {
      const found = await lookUp();
      if (lookedUp === id) await new Promise<void>((resolve) => responses.push(resolve));
      return found;
    });
    return responses;
  }

  test('a look-up that began before a revocation is not used for requests after the revocation', async () => {
    const key = await here.createKey();
    const responses = slowLookUps(key);
    const before = read(key.whole);
    await until(async () => responses.length === 1);
    await revoke(key);
    const after = read(key.whole);
    await until(async () => responses.length === 2);
    responses[1]?.();
    expect(await after).toBe(401);
    responses[0]?.();
    expect(await before).toBe(200);
    expect(await read(key.whole)).toBe(401);
  });

  describe('on a connection that has sent a valid key,', () => {
    let agent: Agent;
    let key: TestKey;
    beforeEach(async () => {
      connections = 0;
      agent = new Agent({ keepAlive: true, maxSockets: 1 });
      key = await here.createKey({ expiresAt: new Date(clock + 60_000).toISOString() });
    });
    afterEach(() => {
      agent.destroy();
      expect(connections).toBe(1);
    });

    const send = async (whole: string) =>
      (await ask(url, { path: '/pets', headers: { 'x-api-key': whole } }, agent)).status;

    test('a wrong secret is rejected, and the valid key is still accepted', async () => {
      const { whole } = key;
      for (const other of [wrong(whole, 0), wrong(whole, 15), wrong(whole), `${whole}a`, whole.slice(0, -1)]) {
        expect(await send(whole)).toBe(200);
        expect(await send(other)).toBe(401);
      }
      expect(await send(whole)).toBe(200);
    });

    test('a key that is revoked while it is being looked up is rejected from the next request on', async () => {
      const responses = slowLookUps(key);
      const before = send(key.whole);
      await until(async () => responses.length === 1);
      await revoke(key);
      responses[0]?.();
      expect(await before).toBe(200);
      jest.restoreAllMocks();
      expect(await send(key.whole)).toBe(401);
    });

    test.each<[string, () => unknown]>([
      ['once it is revoked', () => revoke(key)],
      [
        'five seconds after another instance revoked it',
        async () => {
          await here.database
            .serviceSession()
            .query(statement('update api_keys set revoked_at = now() where id = $1'), [key.id]);
          later();
        },
      ],
      [
        'from the millisecond at which it expires',
        async () => {
          clock += 59_999;
          expect(await send(key.whole)).toBe(200);
          clock += 1;
        },
      ],
    ])('the key is rejected %s', async (_when, end) => {
      expect(await send(key.whole)).toBe(200);
      await end();
      expect(await send(key.whole)).toBe(401);
    });
  });
});
