import { setTimeout as sleep } from 'node:timers/promises';
import { tryLock } from '../../../src/database/raw-queries';
import { statement } from '../../../src/database/statement';
import { ExpiredAnswers } from '../../../src/graphql/expired-answers';
import { fillShop, TEST_DATABASE_URL } from '../../helper/database';
import { type Gateway, startGateway } from '../../helper/gateway';
import { toldBy } from '../../helper/standing';
import { until } from '../../helper/until';
import { type Answer, contentOf, send } from '../../rest/client';

const START = Date.UTC(2026, 10, 21);
const HOUR = 3_600_000;

let now = START;
let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({}, () => now);
});
beforeEach(async () => {
  now = START;
  await fillShop(gateway.database);
});
afterAll(() => gateway.close());

const keyed = (key: string, headers: Record<string, string | undefined> = {}) => ({
  'idempotency-key': key,
  ...headers,
});

/** Headers that belong to the request, not to the stored response. */
const OF_THE_REQUEST = /^(date|x-request-id|x-ratelimit-.*|ratelimit|ratelimit-policy|idempotent-replayed)$/;

function lasting({ status, headers, text }: Answer) {
  const kept = Object.entries(headers).filter(([name]) => !OF_THE_REQUEST.test(name));
  return { status, text, headers: Object.fromEntries(kept) };
}

async function post(query: string, variables: object | undefined, headers: Record<string, string | undefined>) {
  return send(gateway, 'POST /graphql', { query, variables }, headers);
}

const replayed = ({ headers }: Answer) => headers['idempotent-replayed'];
const code = ({ json }: Answer) => (json as { code?: string }).code;
const codes = ({ json }: Answer) =>
  (json as { errors?: { extensions: { code: string } }[] }).errors?.map(({ extensions }) => extensions.code);
const count = async (table: string) => {
  const [row] = await gateway.database.query<{ n: number }>(statement(`select count(*)::int as n from ${table}`), []);
  return row?.n;
};

/** Number of connections waiting for a lock. */
const waiting = async () => {
  const [row] = await gateway.database.query<{ n: number }>(
    statement(`select count(*)::int as n from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`),
    [],
  );
  return row?.n;
};
const onPostgres = TEST_DATABASE_URL ? test : test.skip;

describe('the same request with the same key gets the same response, and changes nothing again', () => {
  test.each<[string, object, number]>([
    ['POST /pets', { name: 'Ünïcode \u{1f408}', categoryId: 2 }, 201],
    ['POST /categories', { name: 'Fish', description: 'a\u2028b' }, 201],
    ['POST /store/orders', { petId: 1, quantity: 2, shipDate: '0099-01-02T03:04:05.678+01:00' }, 201],
    ['PATCH /pets/1', { name: 'Rexi' }, 200],
    ['PATCH /categories/1', { description: null }, 200],
    ['PATCH /store/orders/1', { quantity: 5 }, 200],
    ['PATCH /pets/99', { name: 'Nobody' }, 404],
    ['POST /store/orders', { petId: 1, quantity: 4 }, 409],
    ['POST /pets', { name: 'Lost', categoryId: 99 }, 422],
  ])('%s %j: %i', async (on, body, status) => {
    const plain = await send(gateway, on, body);
    await fillShop(gateway.database);

    const first = await send(gateway, on, body, keyed('k'));
    const content = await contentOf(gateway);
    const second = await send(gateway, on, body, keyed('k'));
    expect(first.status).toBe(status);
    expect(lasting(second)).toEqual(lasting(first));
    expect([replayed(first), replayed(second)]).toEqual([undefined, 'true']);
    expect(second.headers['x-request-id']).not.toBe(first.headers['x-request-id']);
    expect(await contentOf(gateway)).toBe(content);
    // All that the key changes in the response is the stability header.
    const { headers, ...rest } = lasting(first);
    const own = lasting(plain);
    expect(headers).toEqual({
      ...own.headers,
      'x-stability': 'experimental',
      'content-length': headers['content-length'],
    });
    if (status < 300) expect(rest.text).toBe(own.text);
  });

  test.each<[string, string]>([
    ['a new document', '# $'],
    ['a known document', ''],
  ])('POST /graphql with %s', async (_what, comment) => {
    const query = `mutation Place($input: NewOrder!) { placeOrder(input: $input) { id pet { inventory { quantity } } } } ${comment}${now}`;
    const document = comment ? query : 'mutation ($input: NewOrder!) { placeOrder(input: $input) { id } }';
    if (!comment) await post(document, { input: {} }, {});
    const input = { petId: '1', quantity: 2 };
    const first = await post(document, { input }, keyed('g'));
    const content = await contentOf(gateway);
    const second = await post(document, { input }, keyed('g'));
    expect(first.status).toBe(200);
    expect(codes(first)).toBeUndefined();
    expect(lasting(second)).toEqual(lasting(first));
    expect([replayed(first), replayed(second)]).toEqual([undefined, 'true']);
    expect(second.headers['x-stability']).toBe('experimental');
    expect(await contentOf(gateway)).toBe(content);
  });

  test('how the body is formatted does not matter', async () => {
    const first = await send(gateway, 'POST /pets', '{"name":"A","categoryId":1}', keyed('k'));
    const second = await send(gateway, 'POST /pets', '{ "categoryId": 1, "status": null, "name": "A" }', keyed('"k"'));
    expect([second.text, replayed(second)]).toEqual([first.text, 'true']);
    expect(await count('pets')).toBe(4);
  });

  test('a replay counts as a request like any other', async () => {
    const { headers } = await gateway.createKey();
    const left = async () =>
      toldBy((await send(gateway, 'POST /pets', { name: 'A', categoryId: 1 }, keyed('k', headers))).headers).remaining;
    expect([await left(), await left(), await left()]).toEqual([59, 58, 57]);
  });

  test('nested responses too: they are read in the same transaction', async () => {
    const query = `mutation { updatePet(id: 1, input: { categoryId: 1 }) { id
        category { id name pets(first: 2) { totalCount edges { cursor node { id orders { nodes { id shipDate } totalCount } inventory { quantity status } } } } }
        orders { nodes { id pet { name category { name } } shipDate } } inventory { quantity } } }`;
    await send(gateway, 'PATCH /store/orders/1', { shipDate: '2026-01-02T03:04:05.678Z' });
    const data = (answer: Answer) => JSON.stringify((answer.json as { data: object }).data);
    const plain = await post(query, {}, {});
    const first = await post(query, {}, keyed('deep'));
    expect(codes(first)).toBeUndefined();
    expect(data(first)).toBe(data(plain));
    expect((await post(query, {}, keyed('deep'))).text).toBe(first.text);
  });
});

describe('another request with the same key is refused', () => {
  test.each<[string, string, object, Record<string, string>?]>([
    ['another body', 'POST /pets', { name: 'B', categoryId: 1 }],
    ['another method and path', 'PATCH /pets/1', { name: 'A' }],
    ['another operation', 'POST /categories', { name: 'A' }],
    ['an additional field', 'POST /pets', { name: 'A', categoryId: 1, status: 'sold' }],
  ])('%s: 422', async (_what, on, body) => {
    const first = await send(gateway, 'POST /pets', { name: 'A', categoryId: 1 }, keyed('k'));
    const content = await contentOf(gateway);
    const second = await send(gateway, on, body, keyed('k'));
    expect([second.status, code(second), replayed(second)]).toEqual([422, 'IDEMPOTENCY_MISMATCH', undefined]);
    expect(second.headers['x-stability']).toBe('experimental');
    expect(await contentOf(gateway)).toBe(content);
    const third = await send(gateway, 'POST /pets', { name: 'A', categoryId: 1 }, keyed('k'));
    expect(lasting(third)).toEqual(lasting(first));
  });

  test('another path of the same operation: 422', async () => {
    await send(gateway, 'PATCH /pets/1', { name: 'A' }, keyed('k'));
    expect((await send(gateway, 'PATCH /pets/2', { name: 'A' }, keyed('k'))).status).toBe(422);
    expect(((await send(gateway, 'GET /pets?id=2')).json as { name: string }[])[0]?.name).toBe('Bello');
  });

  test('in GraphQL: other variables, another operation of the document, another document', async () => {
    const query =
      'mutation A($n: String!) { createCategory(input: { name: $n }) { id } } mutation B($n: String!) { createCategory(input: { name: $n }) { id name } }';
    const ask = (operationName: string, n: string, text = query) =>
      send(
        gateway,
        'POST /graphql',
        { query: text, operationName, variables: { n } },
        keyed('g', { 'x-api-key': undefined }),
      );
    expect(codes(await ask('A', 'x'))).toBeUndefined();
    for (const answer of [
      await ask('A', 'y'),
      await ask('B', 'x'),
      await ask('A', 'x', query.replace('{ id }', '{ id description }')),
    ])
      expect([answer.status, codes(answer)]).toEqual([422, ['IDEMPOTENCY_MISMATCH']]);
    const spaced = await ask('A', 'x', query.replaceAll(' ', '  '));
    expect([spaced.status, replayed(spaced)]).toEqual([200, 'true']);
  });
});

describe('keys belong to their caller', () => {
  test('callers with other keys or addresses do not share them', async () => {
    const [one, other] = [await gateway.createKey(), await gateway.createKey()];
    const callers = [one.headers, other.headers, { 'x-api-key': undefined }];
    const ids = [];
    for (const headers of callers) {
      const { status, json } = await send(gateway, 'POST /pets', { name: 'A', categoryId: 1 }, keyed('same', headers));
      ids.push([status, (json as { id: number }).id]);
    }
    expect(ids).toEqual([
      [201, 4],
      [201, 5],
      [201, 6],
    ]);
  });

  test('a caller that lost the scope does not get the stored response', async () => {
    const { headers, id } = await gateway.createKey();
    const ask = () => send(gateway, 'POST /pets', { name: 'A', categoryId: 1 }, keyed('k', headers));
    expect((await ask()).status).toBe(201);
    await gateway.data('mutation ($id: ID!) { updateApiKey(id: $id, input: { scopes: [READ] }) { id } }', {
      id,
    });
    const refused = await ask();
    expect([refused.status, code(refused)]).toEqual([403, 'FORBIDDEN']);
  });
});

describe('a request that did not run is not stored', () => {
  const retry = async (on: string, wrong: unknown, right: unknown, status: number) => {
    const refused = await send(gateway, on, wrong, keyed('k'));
    expect(refused.status).toBe(status);
    const corrected = await send(gateway, on, right, keyed('k'));
    expect([corrected.status, replayed(corrected)]).toEqual([201, undefined]);
  };

  test.each<[string, unknown, number]>([
    ['a body that is not JSON', '{', 400],
    ['a field of the wrong type', { name: 5, categoryId: 1 }, 400],
    ['a name that is too long', { name: 'x'.repeat(256), categoryId: 1 }, 400],
    ['a blank name', { name: '  ', categoryId: 1 }, 400],
  ])('%s: it may be corrected under the same key', (_what, wrong, status) =>
    retry('POST /pets', wrong, { name: 'A', categoryId: 1 }, status),
  );

  test('refused by GraphQL before it runs', async () => {
    const query = 'mutation ($name: String!) { createCategory(input: { name: $name }) { id } }';
    const refused = await post(query, { name: 5 }, keyed('g'));
    expect([refused.status, codes(refused)]).toEqual([400, ['BAD_USER_INPUT']]);
    expect(codes(await post('mutation { nothing }', {}, keyed('g')))).toEqual(['GRAPHQL_VALIDATION_FAILED']);
    const corrected = await post(query, { name: 'A' }, keyed('g'));
    expect([corrected.status, codes(corrected), replayed(corrected)]).toEqual([200, undefined, undefined]);
  });

  test('429: the key stays free', async () => {
    const { headers } = await gateway.createKey({ plan: 'ENTERPRISE', perMinute: 1, perDay: 9 });
    const ask = (name: string) => send(gateway, 'POST /pets', { name, categoryId: 1 }, keyed(name, headers));
    const statuses = [(await ask('A')).status, (await ask('B')).status, (await ask('A')).status];
    expect(statuses).toEqual([201, 429, 429]);
    now += 60_000;
    const [again] = [await ask('B')];
    expect([again.status, replayed(again)]).toEqual([201, undefined]);
  });

  test('401 and 403', async () => {
    const reader = await gateway.createKey({ scopes: ['READ'] });
    const body = { name: 'A', categoryId: 1 };
    expect((await send(gateway, 'POST /pets', body, keyed('k', reader.headers))).status).toBe(403);
    expect((await send(gateway, 'POST /pets', body, keyed('k', { 'x-api-key': 'wrong' }))).status).toBe(401);
    expect(await count('idempotency_keys')).toBe(0);
  });

  test('an internal error: nothing of the operation stays, and it can be retried', async () => {
    await gateway.database.query(
      statement(`alter table orders add constraint boom check (quantity is distinct from 13)`),
      [],
    );
    await send(gateway, 'PUT /store/inventory/1', { quantity: 100 });
    const query = 'mutation { placeOrder(input: { petId: 1, quantity: 13 }) { id } }';
    const content = await contentOf(gateway);
    try {
      const failed = await post(query, undefined, keyed('k'));
      expect([failed.status, codes(failed)]).toEqual([500, ['INTERNAL_SERVER_ERROR']]);
      expect(failed.text).not.toMatch(/boom|constraint/);
      expect(await contentOf(gateway)).toBe(content);
    } finally {
      await gateway.database.query(statement('alter table orders drop constraint boom'), []);
    }
    const again = await post(query, undefined, keyed('k'));
    expect([again.status, codes(again), replayed(again)]).toEqual([200, undefined, undefined]);
  });

  test('a response that is too large to store: nothing is changed', async () => {
    const name = 'x'.repeat(255);
    await gateway.database.query(
      statement('insert into pets (name, category_id) select $1::text, 1 from generate_series(1, 200)'),
      [name],
    );
    const many = Array.from({ length: 60 }, (_, i) => `p${i}: pets(first: 100) { nodes { name } }`).join(' ');
    const query = `mutation { updateCategory(id: 1, input: { name: "Changed" }) { ${many} } }`;
    const refused = await post(query, undefined, keyed('k'));
    expect([refused.status, codes(refused)]).toEqual([400, ['OPERATION_TOO_COMPLEX']]);
    expect((await send(gateway, 'GET /categories/1')).text).toContain('Dogs');
  });
});

describe('a mutation of several root fields', () => {
  const query = `mutation {
    a: createCategory(input: { name: "A" }) { id }
    b: placeOrder(input: { petId: 1, quantity: 100 }) { id }
    c: createCategory(input: { name: "C" }) { id }
  }`;

  test('is rejected under a key: none of it runs, and the key stays free', async () => {
    const { headers } = await gateway.createKey();
    const content = await contentOf(gateway);
    const rejected = await post(query, undefined, keyed('k', headers));
    expect([rejected.status, codes(rejected), toldBy(rejected.headers).remaining]).toEqual([
      400,
      ['BAD_USER_INPUT'],
      59,
    ]);
    expect(rejected.text).toContain(
      'Idempotency-Key: is accepted by mutations of one root field, and this operation has 3',
    );
    expect(await contentOf(gateway)).toBe(content);
    const one =
      'mutation ($all: Boolean = false) { a: createCategory(input: { name: "A" }) { id } __typename b: createCategory(input: { name: "B" }) @include(if: $all) { id } }';
    expect(codes(await post(one, undefined, keyed('k', headers)))).toBeUndefined();
  });

  test('commits each field by itself without a key: one that fails takes nothing from the others', async () => {
    const plain = await post(query, undefined, {});
    expect([plain.status, codes(plain)]).toEqual([200, ['INSUFFICIENT_STOCK']]);
    expect(plain.json).toMatchObject({
      data: { a: { id: expect.any(String) }, b: null, c: { id: expect.any(String) } },
    });
    expect(await contentOf(gateway)).toMatch(/"A".*"C"/);
  });
});

test('a response with an error below its root field is stored: the change has been made', async () => {
  const query = 'mutation { createCategory(input: { name: "A" }) { id pets(first: 1000) { totalCount } } }';
  const first = await post(query, undefined, keyed('k'));
  expect(codes(first)).toEqual(['BAD_USER_INPUT']);
  const second = await post(query, undefined, keyed('k'));
  expect([second.text, replayed(second)]).toEqual([first.text, 'true']);
  expect(await count('categories')).toBe(3);
});

describe('while the first is running', () => {
  const body = { petId: 1, quantity: 1 };

  test('one of many runs; the others are refused, or get its response', async () => {
    const ask = () => send(gateway, 'POST /store/orders', body, keyed('k'));
    const answers = await Promise.all(Array.from({ length: 20 }, ask));
    const done = answers.filter(({ status }) => status === 201);
    const refused = answers.filter(({ status }) => status !== 201);
    expect(done.length).toBeGreaterThanOrEqual(1);
    expect(new Set(done.map(({ text }) => text)).size).toBe(1);
    expect(done.filter((each) => !replayed(each))).toHaveLength(1);
    for (const each of refused) expect([each.status, code(each)]).toEqual([409, 'IDEMPOTENCY_IN_PROGRESS']);
    expect(await count('orders')).toBe(2);
    expect([(await ask()).text, replayed(await ask())]).toEqual([done[0]?.text, 'true']);
  });

  test('different keys do not block each other', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => send(gateway, 'POST /store/orders', { quantity: 1 }, keyed(`k${i}`))),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(201));
    expect(await count('orders')).toBe(21);
  });

  test('reads, and writes without a key, are not blocked', async () => {
    const on = ['POST /pets', 'GET /pets', 'POST /pets', 'GET /categories'];
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) => {
        const each = on[i % 4] ?? '';
        const isPost = each.startsWith('POST');
        return send(
          gateway,
          each,
          isPost ? { name: `P${i}`, categoryId: 1 } : undefined,
          i % 4 === 0 ? keyed(`k${i}`) : {},
        );
      }),
    );
    expect([...new Set(answers.map(({ status }) => status))].sort()).toEqual([200, 201]);
    expect(await count('pets')).toBe(23);
  });
});

describe('after 24 hours', () => {
  const ask = (name: string) => send(gateway, 'POST /pets', { name, categoryId: 1 }, keyed('k'));

  test('the key is free again, for another request too', async () => {
    await ask('A');
    now += 24 * HOUR - 1;
    expect(replayed(await ask('A'))).toBe('true');
    expect((await ask('B')).status).toBe(422);
    now += 1;
    const later = await ask('B');
    expect([later.status, replayed(later)]).toEqual([201, undefined]);
    now += 23 * HOUR;
    expect(replayed(await ask('B'))).toBe('true');
  });

  /** Runs `work` while expired responses are deleted every 10 ms. */
  async function whileCleaning(work: () => Promise<void>): Promise<void> {
    const cleaning = new ExpiredAnswers(gateway.database, {
      now: () => now,
      onError: (error) => {
        throw error;
      },
      every: 10,
    });
    await work().finally(() => cleaning.stop());
  }

  const keep = (count: number, until: number) =>
    gateway.database.query(
      statement(`insert into idempotency_keys select 'x', g::text, decode(repeat('00', 32), 'hex'), '{}', $1::timestamptz
        from generate_series(1, $2::int) g`),
      [new Date(until), count],
    );

  test('the stored response is deleted', () =>
    whileCleaning(async () => {
      await keep(1234, START + 24 * HOUR);
      now += HOUR;
      await ask('A');
      now += 23 * HOUR;
      await until(async () => (await count('idempotency_keys')) === 1);
      expect(replayed(await ask('A'))).toBe('true');
    }));

  onPostgres('it is deleted by one instance at a time, and the others do not wait', async () => {
    await keep(3, START);
    await gateway.database.transaction(async (other) => {
      expect(await tryLock(other, 'cleaning')).toBe(true);
      await whileCleaning(() => sleep(200));
      expect([await count('idempotency_keys'), await waiting()]).toEqual([3, 0]);
    });
    await whileCleaning(() => until(async () => (await count('idempotency_keys')) === 0));
  });
});

describe('the header', () => {
  const ask = (key: string) => send(gateway, 'POST /pets', { name: 'A', categoryId: 1 }, keyed(key));

  test.each(['a', 'x'.repeat(255), '8e03978e-40d5-43dd-bc93-6894a57f9324', "!#$%&'()*+,-./:;<=>?@[]^_`{|}~", 'a"b'])(
    '%s is accepted, with or without quotes',
    async (key) => {
      expect((await ask(key)).status).toBe(201);
      const quoted = await ask(`"${key.replace(/["\\]/g, '\\$&')}"`);
      expect([quoted.status, replayed(quoted)]).toEqual([201, 'true']);
      expect(await count('pets')).toBe(4);
    },
  );

  test.each([
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
  ])('%j is refused with 400', async (key) => {
    const refused = await ask(key);
    expect([refused.status, code(refused)]).toEqual([400, 'BAD_USER_INPUT']);
    expect((refused.json as { details: object[] }).details).toEqual([
      { path: 'Idempotency-Key', message: expect.stringContaining('1 to 255') },
    ]);
    expect(refused.headers['x-stability']).toBe('experimental');
    expect(await count('pets')).toBe(3);
  });

  test('is ignored where it has no meaning', async () => {
    for (const on of ['GET /pets', 'PUT /pets/1', 'DELETE /pets/2']) {
      const body = on.startsWith('PUT') ? { name: 'A', categoryId: 1 } : undefined;
      const { status, headers } = await send(gateway, on, body, keyed('not a key'));
      expect([on, status < 300, headers['x-stability']]).toEqual([on, true, undefined]);
    }
    const query = await post('{ pets { nodes { id } } }', undefined, keyed('not a key'));
    expect([query.status, codes(query), query.headers['x-stability']]).toEqual([200, undefined, undefined]);
    expect(await count('idempotency_keys')).toBe(0);
  });

  test('is refused by mutations of the scope ADMIN: no secret is stored', async () => {
    const refused = await post('mutation { createApiKey(input: { name: "n" }) { secret } }', undefined, keyed('k'));
    expect([refused.status, codes(refused)]).toEqual([400, ['BAD_USER_INPUT']]);
    expect(await count('idempotency_keys')).toBe(0);
  });

  test('and its response headers can be read by scripts of other origins', async () => {
    const origin = { origin: 'https://shop.example' };
    const { headers } = await send(gateway, 'POST /pets', { name: 'A', categoryId: 1 }, keyed('k', origin));
    expect(headers['access-control-expose-headers']).toContain('Idempotent-Replayed');
    const preflight = await send(gateway, 'OPTIONS /pets', undefined, {
      ...origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'idempotency-key',
    });
    expect(preflight.headers['access-control-allow-headers']).toContain('idempotency-key');
  });
});
