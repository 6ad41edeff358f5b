import { setTimeout as sleep } from 'node:timers/promises';
import { gatewayDomains, type Services } from '../../src/app/domains';
import { tryLock } from '../../src/database/advisory-locks';
import { cleanPeriodically } from '../../src/database/cleaning';
import { statement } from '../../src/database/statement';
import { NEW_KEY } from '../../src/errors/codes';
import { deleteExpiredResponses } from '../../src/graphql/idempotency';
import { fillShop, TEST_DATABASE_URL } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';
import { titled } from '../helper/titled';
import { until } from '../helper/until';
import { ANONYMOUS, type Answer, ask, type Headers, PREFLIGHT } from './client';

const START = Date.UTC(2026, 10, 21);
const HOUR = 3_600_000;

let now = START;
let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ ANONYMOUS_ACCESS: 'write' }, () => now);
});
beforeEach(async () => {
  now = START;
  await fillShop(gateway.database);
});
afterAll(() => gateway.close());

/** Sends an HTTP request (`sent` is its body) or a GraphQL operation (`sent` is its variables). */
function send(on: string, sent?: unknown, key?: string, headers: Headers = {}): Promise<Answer> {
  const parts = /^[A-Z]+ \//.test(on) ? { body: sent } : { variables: sent as object };
  return ask(gateway, on, { ...parts, headers: { 'idempotency-key': key, ...headers } });
}

const isReplayed = ({ headers }: Answer) => headers['idempotent-replayed'] === 'true';
const outcome = (answer: Answer) => [answer.status, answer.code, isReplayed(answer)];
const sql = <Row>(text: string, values: unknown[] = []) =>
  gateway.database.serviceSession().query<Row>(statement(text), values);
const count = async (table: string) => (await sql<{ n: number }>(`select count(*)::int as n from ${table}`))[0]?.n;
/** All rows of the shop, as text. */
const content = async () => {
  const lists = ['/categories', '/pets', '/store/orders', '/store/inventory'];
  return (await Promise.all(lists.map((path) => send(`GET ${path}`)))).map(({ text }) => text).join('\n');
};

/** A response without the headers in which a replay differs from the original. */
function stored({ status, headers, text }: Answer) {
  const ofRequest = /^(date|x-request-id|x-ratelimit-.*|ratelimit|ratelimit-policy|idempotent-replayed)$/;
  return {
    status,
    text,
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !ofRequest.test(name))),
  };
}

const RABBIT = { name: 'A', categoryId: 1 };
const PLACE = 'mutation ($input: NewOrder!) { placeOrder(input: $input) { id pet { inventory { quantity } } } }';
const CREATE = 'mutation ($name: String!) { createCategory(input: { name: $name }) { id } }';
const NESTED = `mutation { updatePet(id: 1, input: { categoryId: 1 }) { id
  category { id name pets(first: 2) { totalCount edges { cursor node { id orders { nodes { id shipDate } totalCount } inventory { quantity status } } } } }
  orders { nodes { id pet { name category { name } } shipDate } } inventory { quantity } } }`;
const PARTIAL = 'mutation { createCategory(input: { name: "A" }) { id pets(first: 1000) { totalCount } } }';

test.each(
  (
    [
      ['POST /pets', { name: 'Ünïcode \u{1f408}', categoryId: 2 }, 201],
      ['POST /categories', { name: 'Fish', description: 'a\u2028b' }, 201],
      ['POST /store/orders', { petId: 1, quantity: 2, shipDate: '0099-01-02T03:04:05.678+01:00' }, 201],
      ['PATCH /pets/1', { name: 'Rexi' }, 200],
      ['PATCH /categories/1', { description: null }, 200],
      ['PATCH /store/orders/1', { quantity: 5 }, 200],
      ['PATCH /pets/99', { name: 'Nobody' }, 404],
      ['POST /store/orders', { petId: 1, quantity: 4 }, 409],
      ['POST /pets', { name: 'Lost', categoryId: 99 }, 422],
      [PLACE, { input: { petId: '1', quantity: 2 } }, 200],
      [NESTED, {}, 200],
      ['mutation { deletePet(id: 99) { id } }', {}, 200],
      // The error is in a field below the root field, so the change is committed.
      [PARTIAL, {}, 200],
    ] as const
  ).map((row) => titled(row, 2)),
)(
  'a repeated request with the same key gets the stored response and changes nothing: %s',
  async (_title, on, sent, status) => {
    const plain = await send(on, sent);
    await fillShop(gateway.database);
    const first = await send(on, sent, 'k');
    const changed = await content();
    const second = await send(on, sent, 'k');
    expect([first.status, isReplayed(first), isReplayed(second)]).toEqual([status, false, true]);
    expect(stored(second)).toEqual(stored(first));
    expect(second.headers['x-request-id']).not.toBe(first.headers['x-request-id']);
    expect(await content()).toBe(changed);
    expect(first.headers).toMatchObject({ ...stored(plain).headers, 'content-length': expect.anything() });
    expect(first.headers['x-stability']).toBeUndefined();
    expect([first.code, first.json.data]).toEqual([plain.code, plain.json.data]);
  },
);

test('a retry gets the stored response even if the body or the key is formatted differently', async () => {
  const first = await send('POST /pets', '{"name":"A","categoryId":1}', 'k');
  const second = await send('POST /pets', '{ "categoryId": 1, "name": "A" }', '"k"');
  expect([second.text, isReplayed(second)]).toEqual([first.text, true]);
  const query = CREATE.replaceAll(' ', '  ');
  expect([await send(CREATE, { name: 'B' }, 'g'), await send(query, { name: 'B' }, 'g')].map(isReplayed)).toEqual([
    false,
    true,
  ]);
});

test('a retry gets the stored response even after the created pet was deleted; keys are case-sensitive', async () => {
  const first = await send('POST /pets', RABBIT, 'k');
  await gateway.data(`mutation { deletePet(id: ${first.json.id}) { id } }`);
  const [again, other] = [await send('POST /pets', RABBIT, 'k'), await send('POST /pets', RABBIT, 'K')];
  expect([again.text, isReplayed(again), isReplayed(other)]).toEqual([first.text, true, false]);
});

test('a replay is charged like any other request', async () => {
  const { headers } = await gateway.createKey();
  for (const remaining of [59, 58, 57])
    expect((await send('POST /pets', RABBIT, 'k', headers)).told.remaining).toBe(remaining);
});

describe('a different request with the same key gets 422', () => {
  const both = `${CREATE.replace('(', ' A(')} ${CREATE.replace('(', ' B(')}`;
  const named = (operationName: string, name: string, query = both) => ({ query, operationName, variables: { name } });
  test.each<[what: string, on: string, sent: unknown, other: string, sent2: unknown]>([
    ['a different body', 'POST /pets', RABBIT, 'POST /pets', { name: 'B', categoryId: 1 }],
    ['a different method and path', 'POST /pets', RABBIT, 'PATCH /pets/1', { name: 'A' }],
    ['a different REST operation', 'POST /pets', RABBIT, 'POST /categories', { name: 'A' }],
    ['an additional field', 'POST /pets', RABBIT, 'POST /pets', { ...RABBIT, status: 'sold' }],
    ['a different resource', 'PATCH /pets/1', { name: 'A' }, 'PATCH /pets/2', { name: 'A' }],
    ['different variables', 'POST /graphql', named('A', 'x'), 'POST /graphql', named('A', 'y')],
    ['a different operation of the same document', 'POST /graphql', named('A', 'x'), 'POST /graphql', named('B', 'x')],
    ['a different document', CREATE, { name: 'x' }, CREATE.replace('{ id }', '{ id name }'), { name: 'x' }],
  ])('%s', async (_what, on, sent, other, otherSent) => {
    expect((await send(on, sent, 'k')).code).toBeUndefined();
    const changed = await content();
    expect(outcome(await send(other, otherSent, 'k'))).toEqual([422, 'IDEMPOTENCY_MISMATCH', false]);
    expect(await content()).toBe(changed);
  });
});

test('equal keys of different callers are independent; a caller that has lost the scope gets no replay', async () => {
  const [one, other] = [await gateway.createKey(), await gateway.createKey()];
  for (const [headers, id] of [
    [one.headers, 4],
    [other.headers, 5],
    [ANONYMOUS, 6],
  ] as const)
    expect((await send('POST /pets', RABBIT, 'k', headers)).json).toMatchObject({ id });
  await gateway.data(`mutation { updateApiKey(id: "${one.id}", input: { scopes: [READ] }) { id } }`);
  expect(outcome(await send('POST /pets', RABBIT, 'k', one.headers))).toEqual([403, 'FORBIDDEN', false]);
});

describe('a rejection that is stored', () => {
  test.each<[code: string, on: string, sent: unknown]>([
    ['INSUFFICIENT_STOCK', 'POST /store/orders', { petId: 1, quantity: 4 }],
    ['ORDER_COMPLETE', 'PATCH /store/orders/1', { quantity: 1 }],
    ['CATEGORY_NOT_EMPTY', 'mutation { deleteCategory(id: 1) { id } }', {}],
    ['PET_HAS_ORDERS', 'mutation { deletePet(id: 1) { id } }', {}],
    ['UNKNOWN_REFERENCE', 'POST /pets', { name: 'Lost', categoryId: 99 }],
    ['NOT_FOUND', 'PATCH /pets/99', { name: 'Nobody' }],
  ])('is replayed, and its remedy names a new key: %s', async (code, on, sent) => {
    if (code === 'ORDER_COMPLETE') await send('PATCH /store/orders/1', { complete: true });
    const answers = [await send(on, sent, 'k'), await send(on, sent, 'k')];
    expect(answers.map((answer) => [answer.code, isReplayed(answer)])).toEqual([
      [code, false],
      [code, true],
    ]);
    expect(gatewayDomains({} as Services).errors.get(code)?.fix).toContain(NEW_KEY);
  });
});

describe('the response to a rejected or failed request is not stored', () => {
  test.each<[what: string, on: string, wrong: unknown, status: number, right: unknown]>([
    ['a body that is not JSON', 'POST /pets', '{', 400, RABBIT],
    ['a field of the wrong type', 'POST /pets', { name: 5, categoryId: 1 }, 400, RABBIT],
    ['a name that is too long', 'POST /pets', { name: 'x'.repeat(256), categoryId: 1 }, 400, RABBIT],
    ['a blank name', 'POST /pets', { name: '  ', categoryId: 1 }, 400, RABBIT],
    ['a wrong variable', CREATE, { name: 5 }, 400, { name: 'A' }],
    [
      'an invalid document',
      'POST /graphql',
      { query: 'mutation { x }' },
      400,
      { query: CREATE, variables: { name: 'A' } },
    ],
  ])('%s may be corrected under the same key', async (_what, on, wrong, status, right) => {
    expect((await send(on, wrong, 'k')).status).toBe(status);
    const corrected = await send(on, right, 'k');
    expect([corrected.status < 300, corrected.code, isReplayed(corrected)]).toEqual([true, undefined, false]);
  });

  test('a request over the rate limit can be retried with the same key', async () => {
    const { headers } = await gateway.createKey({ plan: 'ENTERPRISE', perMinute: 1, perDay: 9 });
    for (const [key, status] of [
      ['A', 201],
      ['B', 429],
      ['A', 429],
    ] as const)
      expect((await send('POST /pets', RABBIT, key, headers)).status).toBe(status);
    now += 60_000;
    expect(outcome(await send('POST /pets', RABBIT, 'B', headers))).toEqual([201, undefined, false]);
  });

  test('a request without the required scope or with a wrong API key stores nothing', async () => {
    const reader = await gateway.createKey({ scopes: ['READ'] });
    expect((await send('POST /pets', RABBIT, 'k', reader.headers)).status).toBe(403);
    expect((await send('POST /pets', RABBIT, 'k', { 'x-api-key': 'wrong' })).status).toBe(401);
    expect(await count('idempotency_keys')).toBe(0);
  });

  test('a request that fails with an internal error changes nothing and can be retried', async () => {
    await sql('alter table orders add constraint boom check (quantity is distinct from 13)');
    await send('PUT /store/inventory/1', { quantity: 100 });
    const before = await content();
    const order = { input: { petId: 1, quantity: 13 } };
    try {
      const failed = await send(PLACE, order, 'k');
      expect(outcome(failed)).toEqual([500, 'INTERNAL_SERVER_ERROR', false]);
      expect(failed.text).not.toMatch(/boom|constraint/);
      expect(await content()).toBe(before);
    } finally {
      await sql('alter table orders drop constraint boom');
    }
    expect(outcome(await send(PLACE, order, 'k'))).toEqual([200, undefined, false]);
  });

  test('a request that is rejected because the disk is full changes nothing and can be retried', async () => {
    await sql(`create function fill_disk() returns trigger language plpgsql as
      $$ begin raise exception 'full' using errcode = 'disk_full'; end $$`);
    await sql('create trigger full_disk before insert on orders execute function fill_disk()');
    const order = { input: { petId: 1, quantity: 1 } };
    const before = await content();
    try {
      expect(outcome(await send(PLACE, order, 'k'))).toEqual([200, 'SERVICE_UNAVAILABLE', false]);
      expect(await content()).toBe(before);
    } finally {
      await sql('drop function fill_disk cascade');
    }
    expect(outcome(await send(PLACE, order, 'k'))).toEqual([200, undefined, false]);
  });

  test('a request whose response is too large to store is rejected and changes nothing', async () => {
    await sql('insert into pets (name, category_id) select $1::text, 1 from generate_series(1, 200)', [
      'x'.repeat(255),
    ]);
    const many = Array.from({ length: 60 }, (_, i) => `p${i}: pets(first: 100) { nodes { name } }`).join(' ');
    const query = `mutation { updateCategory(id: 1, input: { name: "Changed" }) { ${many} } }`;
    expect(outcome(await send(query, {}, 'k'))).toEqual([400, 'OPERATION_TOO_COMPLEX', false]);
    expect((await send('GET /categories/1')).text).toContain('Dogs');
  });
});

test('a mutation with no root field or several is rejected if it has a key; without a key, each field commits separately', async () => {
  const query = `mutation {
    a: createCategory(input: { name: "A" }) { id }
    b: placeOrder(input: { petId: 1, quantity: 100 }) { id }
    c: createCategory(input: { name: "C" }) { id }
  }`;
  const { headers } = await gateway.createKey();
  const before = await content();
  const rejected = await send(query, {}, 'k', headers);
  const message = 'Idempotency-Key: is accepted only by mutations with one root field; this operation has 3';
  expect(outcome(rejected)).toEqual([400, 'BAD_USER_INPUT', false]);
  expect([rejected.text, rejected.told.remaining]).toEqual([expect.stringContaining(message), 59]);
  expect(await content()).toBe(before);
  // Such operations use no quota, so storing their responses would be free.
  for (const none of [
    'mutation { __typename }',
    'mutation ($no: Boolean = false) { createCategory(input: { name: "D" }) @include(if: $no) { id } }',
  ])
    expect(outcome(await send(none, {}, 'none', headers))).toEqual([400, 'BAD_USER_INPUT', false]);
  const [a, b] = ['A', 'B'].map((name) => `${name}: createCategory(input: { name: "${name}" })`);
  const one = `mutation ($all: Boolean = false) { ${a} { id } __typename ${b} @include(if: $all) { id } }`;
  expect(outcome(await send(one, {}, 'k', headers))).toEqual([200, undefined, false]);

  const plain = await send(query);
  expect(outcome(plain)).toEqual([200, 'INSUFFICIENT_STOCK', false]);
  expect(plain.json.data).toEqual({ a: { id: expect.any(String) }, b: null, c: { id: expect.any(String) } });
  expect(await content()).toMatch(/"A".*"C"/);
});

describe('while the first request with a key is running', () => {
  test.each<[on: string, sent: unknown, orders: number]>([
    ['POST /store/orders', { petId: 1, quantity: 1 }, 2],
    ['PATCH /store/orders/1', { quantity: 1 }, 1],
    [PLACE, { input: { petId: 1, quantity: 1 } }, 2],
  ])('other requests with the key are rejected or get the response of the first: %s', async (on, sent, orders) => {
    const change = () => send(on, sent, 'k');
    const answers = await Promise.all(Array.from({ length: 20 }, change));
    const [done, rejected] = [answers.filter(({ code }) => !code), answers.filter(({ code }) => code)];
    expect(new Set(done.map(({ text }) => text)).size).toBe(1);
    expect(done.filter((each) => !isReplayed(each))).toHaveLength(1);
    expect(rejected.length).toBeGreaterThan(0);
    for (const each of rejected) {
      expect([...outcome(each), each.headers['retry-after']]).toEqual([409, 'IDEMPOTENCY_IN_PROGRESS', false, '1']);
      if (on === PLACE) expect(each.error).toMatchObject({ retryAfter: 1 });
    }
    expect(await count('orders')).toBe(orders);
    const last = await change();
    expect([last.text, isReplayed(last)]).toEqual([done[0]?.text, true]);
  });

  test('reads, writes without a key, and requests with other keys are not blocked', async () => {
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        i % 3 === 2 ? send('GET /pets') : send('POST /pets', RABBIT, i % 3 === 0 ? `k${i}` : undefined),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map((_, i) => (i % 3 === 2 ? 200 : 201)));
    expect(await count('pets')).toBe(23);
  });
});

describe('after 24 hours', () => {
  const create = (name: string) => send('POST /pets', { name, categoryId: 1 }, 'k');

  test('the key can be used for a different request', async () => {
    await create('A');
    now += 24 * HOUR - 1;
    expect(isReplayed(await create('A'))).toBe(true);
    expect((await create('B')).status).toBe(422);
    now += 1;
    expect(outcome(await create('B'))).toEqual([201, undefined, false]);
    now += 23 * HOUR;
    expect(isReplayed(await create('B'))).toBe(true);
  });

  /** Runs `work` while expired responses are deleted every 10 ms. */
  async function whileCleaning(work: () => Promise<void>): Promise<void> {
    const onError = (error: unknown) => {
      throw error;
    };
    const stop = cleanPeriodically(gateway.database, [deleteExpiredResponses(() => now)], { onError, every: 10 });
    await work().finally(stop);
  }

  const keep = (rows: number, endsAt: number) =>
    sql(
      `insert into idempotency_keys select 'x', g::text, decode(repeat('00', 32), 'hex'), '{}', $1::timestamptz
        from generate_series(1, $2::int) g`,
      [new Date(endsAt), rows],
    );

  test('the stored response is deleted', () =>
    whileCleaning(async () => {
      await keep(1234, START + 24 * HOUR);
      now += HOUR;
      await create('A');
      now += 23 * HOUR;
      await until(async () => (await count('idempotency_keys')) === 1);
      expect(isReplayed(await create('A'))).toBe(true);
    }));

  const onPostgres = TEST_DATABASE_URL ? test : test.skip;
  onPostgres('only one instance at a time deletes responses; other instances do not wait', async () => {
    const waiting = `pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await keep(3, START);
    await gateway.database.serviceSession().transaction(async (other) => {
      expect(await tryLock(other, 'cleaning')).toBe(true);
      await whileCleaning(() => sleep(200));
      expect([await count('idempotency_keys'), await count(waiting)]).toEqual([3, 0]);
    });
    await whileCleaning(() => until(async () => (await count('idempotency_keys')) === 0));
  });
});

describe('the header Idempotency-Key', () => {
  test.each(['a', 'x'.repeat(255), '8e03978e-40d5-43dd-bc93-6894a57f9324', "!#$%&'()*+,-./:;<=>?@[]^_`{|}~", 'a"b'])(
    'accepts the key %s, with or without quotes',
    async (key) => {
      expect((await send('POST /pets', RABBIT, key)).status).toBe(201);
      const quoted = await send('POST /pets', RABBIT, `"${key.replace(/["\\]/g, '\\$&')}"`);
      expect(outcome(quoted)).toEqual([201, undefined, true]);
    },
  );

  const INVALID = [
    '',
    ' ',
    'x'.repeat(256),
    `"${'x'.repeat(256)}"`,
    'a b',
    '"a b"',
    '""',
    '"a',
    '"a"b"',
    '"a\\x"',
    'ä',
    'a, b',
  ];
  test.each(INVALID)('rejects the key %j', async (key) => {
    const { status, code, error } = await send('POST /pets', RABBIT, key);
    expect([status, code]).toEqual([400, 'BAD_USER_INPUT']);
    expect(error?.details).toEqual([{ path: 'Idempotency-Key', message: expect.stringContaining('1 to 255') }]);
    expect(await count('pets')).toBe(3);
  });

  test.each<[string, unknown?]>([
    ['GET /pets'],
    ['PUT /pets/1', RABBIT],
    ['DELETE /pets/2'],
    ['{ pets { totalCount } }'],
  ])('is ignored by %s', async (on, ...[sent]) => {
    const { status, code, headers } = await send(on, sent, 'not a key');
    expect([status < 300, code, headers['x-stability']]).toEqual([true, undefined, undefined]);
    expect(await count('idempotency_keys')).toBe(0);
  });

  test('is rejected in mutations that require the scope ADMIN, so that no secret is stored', async () => {
    const rejected = await send('mutation { createApiKey(input: { name: "n" }) { secret } }', {}, 'k');
    expect(outcome(rejected)).toEqual([400, 'BAD_USER_INPUT', false]);
    expect(await count('idempotency_keys')).toBe(0);
  });

  test('is allowed in cross-origin requests, and scripts can read the response header Idempotent-Replayed', async () => {
    const { headers } = await send('POST /pets', RABBIT, 'k', { origin: 'https://shop.example' });
    expect(headers['access-control-expose-headers']).toContain('Idempotent-Replayed');
    const asked = { ...PREFLIGHT, 'access-control-request-headers': 'idempotency-key' };
    const preflight = await send('OPTIONS /pets', undefined, undefined, asked);
    expect(preflight.headers['access-control-allow-headers']).toContain('idempotency-key');
  });
});
