import fc from 'fast-check';
import { everyRow, fillShop } from '../helper/database';
import { runs } from '../helper/full';
import { type Gateway, startGateway } from '../helper/gateway';
import { send } from './client';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
// Adds category 3, which has no pets, to the data of fillShop.
beforeEach(async () => {
  await fillShop(gateway.database);
  await send(gateway, 'POST /categories', { name: 'Birds' });
});
afterAll(() => gateway.close());

const STALE = '"AAAAAAAAAAAAAAAAAAAAAAAAAAA"';
const FAILED = { code: 'PRECONDITION_FAILED', status: 412 };

const pathOf = (on: string) => on.slice(on.indexOf(' ') + 1);
const tagOf = async (path: string) => String((await send(gateway, `GET ${path}`)).headers.etag);
const sendIf = (tag: string | undefined, on: string, body?: object, headers: Record<string, string> = {}) =>
  send(gateway, on, body, { 'if-match': tag, ...headers });

const withSuffix = (tag: string, suffix: string) => tag.replace(/"$/, `${suffix}"`);
/** The forms in which compressing proxies pass on a tag: nginx, Apache, Caddy, Jetty, and two of them in a row. */
const PROXY_FORMS: ((tag: string) => string)[] = [
  (tag) => `W/${tag}`,
  ...['-gzip', '-br', ';gzip', '-zstd', '--gzip'].map((suffix) => (tag: string) => withSuffix(tag, suffix)),
  (tag) => `W/${withSuffix(tag, '-gzip')}`,
];
const changedByProxies = (tag: string) => PROXY_FORMS.map((change) => change(tag));

describe('If-None-Match', () => {
  const READS = [
    ...['/pets', '/pets?limit=1', '/pets/1', '/categories', '/categories/1', '/store/orders', '/store/orders/1'],
    ...['/store/inventory', '/store/inventory/1', '/openapi.json', '/openapi.yaml'],
  ];

  test.each(READS)('with the ETag of GET %s gets 304, and this ETag is strong', async (path) => {
    const first = await send(gateway, `GET ${path}`);
    const etag = String(first.headers.etag);
    expect(etag).toMatch(/^"[\w-]{20,}"$/);
    const changed = path.startsWith('/openapi') ? [`W/${etag}`] : changedByProxies(etag);
    for (const known of [etag, ...changed, `"a", ${etag} ,"b"`, '*']) {
      const { status, text, headers } = await send(gateway, `GET ${path}`, undefined, { 'if-none-match': known });
      expect([known, status, text, headers.etag, headers.link]).toEqual([known, 304, '', etag, first.headers.link]);
      expect(headers).not.toHaveProperty('content-type');
    }
    for (const other of [
      '"a"',
      etag.slice(1, -1),
      etag.toUpperCase(),
      '',
      withSuffix(etag, '-x'),
      withSuffix(etag, 'gzip'),
    ]) {
      const { status, text } = await send(gateway, `GET ${path}`, undefined, { 'if-none-match': other });
      expect([other, status, text]).toEqual([other, 200, first.text]);
    }
    expect((await send(gateway, `HEAD ${path}`, undefined, { 'if-none-match': etag })).status).toBe(304);
  });

  test('different bodies have different ETags; deletions and errors have no ETag', async () => {
    const tags = await Promise.all(READS.map(tagOf));
    expect(new Set(tags).size).toBe(READS.length);
    await send(gateway, 'PATCH /pets/1', { name: 'Max' });
    expect((await send(gateway, 'GET /pets/1', undefined, { 'if-none-match': tags[2] })).status).toBe(200);
    expect((await send(gateway, 'DELETE /categories/3')).headers).not.toHaveProperty('etag');
    const missing = await send(gateway, 'GET /pets/7', undefined, { 'if-none-match': '*' });
    expect([missing.status, missing.headers.etag]).toEqual([404, undefined]);
  });
});

test('conditions on times are ignored, since no response has the header Last-Modified', async () => {
  const future = { 'if-modified-since': 'Fri, 01 Jan 2100 00:00:00 GMT' };
  expect(await send(gateway, 'GET /pets/1', undefined, future)).toMatchObject({ status: 200, json: { id: 1 } });
  const past = { 'if-unmodified-since': 'Mon, 01 Jan 2001 00:00:00 GMT' };
  const { status, headers } = await send(gateway, 'PATCH /pets/1', { name: 'Max' }, past);
  expect([status, headers['last-modified']]).toEqual([200, undefined]);
});

const CHANGES: [on: string, body?: object][] = [
  ['PUT /pets/1', { name: 'Max', categoryId: 1 }],
  ['PATCH /pets/1', { status: 'sold' }],
  ['DELETE /pets/2'],
  ['PUT /categories/1', { name: 'Hounds' }],
  ['PATCH /categories/1', { description: null }],
  ['DELETE /categories/3'],
  ['PATCH /store/orders/1', { quantity: 1, shipDate: null }],
  ['DELETE /store/orders/1'],
  ['PUT /store/inventory/1', { quantity: 9 }],
  ['DELETE /store/inventory/1'],
];

test('CHANGES contains every PUT, PATCH and DELETE operation', async () => {
  const { paths } = (await send(gateway, 'GET /openapi.json')).json as { paths: Record<string, object> };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/\{\w+\}/, '1')}`),
  );
  const conditional = operations.filter((on) => /^(PUT|PATCH|DELETE) /.test(on));
  expect(CHANGES.map(([on]) => on.replace(/\d$/, '1')).sort()).toEqual(conditional.sort());
});

describe.each(CHANGES)('If-Match in %s', (on, ...[body]) => {
  test.each<[what: string, header: (tag: string) => string]>([
    ['the current ETag', (tag) => tag],
    ['a list that contains the current ETag', (tag) => `${STALE} ,, ${tag},"other,with,commas"`],
    ['an asterisk', () => ' * '],
  ])('allows the change with %s', async (_what, header) => {
    const tag = await tagOf(pathOf(on));
    expect((await sendIf(header(tag), on, body)).status).toBe(on.startsWith('DELETE') ? 204 : 200);
  });

  // Otherwise a client behind a compressing proxy could never change anything.
  test.each(PROXY_FORMS.slice(0, 4).map((change) => [change('"…"'), change] as const))(
    'allows the change with an ETag that a proxy has changed to %s',
    async (_title, change) => {
      const tag = change(await tagOf(pathOf(on)));
      expect((await sendIf(tag, on, body)).status).toBe(on.startsWith('DELETE') ? 204 : 200);
    },
  );

  test('rejects outdated ETags, and changes nothing', async () => {
    const before = await everyRow(gateway.database);
    const tag = await tagOf(pathOf(on));
    for (const header of [
      STALE,
      '""',
      ...changedByProxies(STALE),
      withSuffix(tag, '-x'),
      withSuffix(tag, '-gzip-gzip'),
    ])
      expect({ header, ...(await sendIf(header, on, body)) }).toMatchObject({ header, status: 412, json: FAILED });
    expect(await everyRow(gateway.database)).toBe(before);
  });
});

describe.each(CHANGES)('If-None-Match in %s', (on, ...[body]) => {
  const sendUnless = (tag: string, more = {}) => send(gateway, on, body, { 'if-none-match': tag, ...more });
  const done = on.startsWith('DELETE') ? 204 : 200;

  test('rejects an asterisk and the current ETag, even if a proxy has changed it, and changes nothing', async () => {
    const before = await everyRow(gateway.database);
    const tag = await tagOf(pathOf(on));
    for (const header of ['*', tag, `${STALE}, ${tag}`, ...changedByProxies(tag)])
      expect({ header, ...(await sendUnless(header)) }).toMatchObject({
        ...{ header, status: 412, json: { ...FAILED, message: expect.stringContaining('If-None-Match') } },
      });
    expect((await sendUnless('*', { 'if-match': tag })).status).toBe(412);
    expect(await everyRow(gateway.database)).toBe(before);
  });

  test('allows the change with other ETags', async () => {
    expect((await sendUnless(STALE)).status).toBe(done);
  });

  test('that is malformed gets 400', async () => {
    const json = { code: 'BAD_USER_INPUT', details: [{ path: 'If-None-Match' }] };
    for (const header of ['', 'abc', '*, "a"']) expect(await sendUnless(header)).toMatchObject({ status: 400, json });
  });
});

test('If-None-Match: * lets exactly one of eight concurrent requests create the stock of a pet', async () => {
  const on = 'PUT /store/inventory/2';
  const answers = await Promise.all(
    [1, 2, 3, 4, 5, 6, 7, 8].map((quantity) => send(gateway, on, { quantity }, { 'if-none-match': '*' })),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412, 412, 412, 412, 412]);
});

test('If-None-Match does not replace 404 by 412 if the resource is missing', async () => {
  for (const on of ['PATCH /pets/999999', 'DELETE /categories/999999', 'DELETE /store/inventory/3'])
    expect((await send(gateway, on, on.startsWith('PATCH') ? {} : undefined, { 'if-none-match': '*' })).status).toBe(
      404,
    );
});

describe('If-Match', () => {
  test.each(['', ',', 'abc', '"a', '*, "a"', 'w/"a"', '"a" "b"', '"a b"'])('%j gets 400', async (header) => {
    const json = { code: 'BAD_USER_INPUT', details: [{ path: 'If-Match' }] };
    for (const [on, body] of CHANGES) expect(await sendIf(header, on, body)).toMatchObject({ status: 400, json });
  });

  test('is checked before business rules: 412 takes precedence over 409', async () => {
    for (const path of ['/pets/1', '/categories/1']) {
      expect((await sendIf(STALE, `DELETE ${path}`)).status).toBe(412);
      expect((await sendIf(await tagOf(path), `DELETE ${path}`)).status).toBe(409);
    }
  });

  // A precondition is ignored if the request would fail before its body is processed (RFC 9110, section 13.2.1).
  test.each(CHANGES.filter(([on]) => !on.startsWith('PUT /categories')))(
    'does not replace 404 by 412 if the resource is missing: %s',
    async (on, ...[body]) => {
      for (const tag of [undefined, '*', STALE]) {
        const { status } = await sendIf(tag, on.replace(/\d$/, '999999'), body);
        expect([tag, status]).toEqual([tag, 404]);
      }
    },
  );

  test('does not match an inventory item that the PUT would create', async () => {
    const on = 'PUT /store/inventory/2';
    for (const tag of ['*', STALE])
      expect(await sendIf(tag, on, { quantity: 1 })).toMatchObject({ status: 412, json: FAILED });
    expect((await sendIf(undefined, on, { quantity: 1 })).status).toBe(200);
  });

  test("with the ETag of an inventory item fails after a change of the pet's status", async () => {
    const tag = await tagOf('/store/inventory/1');
    await send(gateway, 'PATCH /pets/1', { status: 'sold' });
    expect((await sendIf(tag, 'PUT /store/inventory/1', { quantity: 1 })).status).toBe(412);
  });

  test('is ignored by reads, by POST and by GraphQL', async () => {
    expect((await sendIf(STALE, 'GET /pets/1')).status).toBe(200);
    expect((await sendIf(STALE, 'POST /categories', { name: 'Cats' })).status).toBe(201);
    const query = 'mutation { updatePet(id: 1, input: { name: "Max" }) { name } }';
    const { data } = await gateway.graphql(query, undefined, { 'if-match': STALE });
    expect(data.updatePet).toEqual({ name: 'Max' });
  });

  test('does not prevent the replay of a stored response; a 412 is not stored', async () => {
    const change = (tag: string) => sendIf(tag, 'PATCH /pets/1', { name: 'Max' }, { 'idempotency-key': 'one' });
    expect((await change(STALE)).status).toBe(412);
    const tag = await tagOf('/pets/1');
    const [first, again] = [await change(tag), await change(tag)];
    expect(first).toMatchObject({
      status: 200,
      headers: expect.not.objectContaining({ 'idempotent-replayed': 'true' }),
    });
    expect(again).toMatchObject({ status: 200, text: first.text, headers: { etag: first.headers.etag } });
    expect(again.headers['idempotent-replayed']).toBe('true');
  });
});

describe('the ETag of a change', () => {
  test.each<[string, object]>([
    ['POST /categories', { name: 'Cats "\\\u0001\u007f\u2028\ud83d\ude3a%s' }],
    ['PATCH /categories/1', { description: 'a\tb\nc' }],
    ['POST /pets', { name: "Tom's \u00e9", categoryId: 1 }],
    ['PUT /pets/1', { name: 'Max', categoryId: 1, status: 'pending' }],
    ['POST /store/orders', {}],
    ['PATCH /store/orders/1', { shipDate: '0001-01-01T00:00:00Z', complete: true }],
    ['PUT /store/inventory/1', { quantity: 0 }],
  ])('equals the ETag of a read, and is accepted by the next change: %s %j', async (on, body) => {
    const { headers } = await send(gateway, on, body);
    const path = headers.location ?? pathOf(on);
    expect([headers.etag, headers['cache-control']]).toEqual([await tagOf(path), 'no-store']);
    const next = path.includes('inventory')
      ? sendIf(headers.etag, on, body)
      : sendIf(headers.etag, `PATCH ${path}`, {});
    expect((await next).status).toBe(200);
  });

  test('equals the ETag of a later read, for any text', async () => {
    const text = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 40 })
      .map((each) => each.replaceAll('\0', '').trim());
    const category = fc.record({ name: text.map((each) => each || 'x'), description: text.map((each) => each || 'x') });
    const replace = async (body: object) => {
      const { status, headers, text } = await send(gateway, 'PUT /categories/1', body);
      expect([status, headers.etag]).toEqual([200, await tagOf('/categories/1')]);
      expect(text).toBe(JSON.stringify({ id: 1, ...body }));
    };
    await fc.assert(fc.asyncProperty(category, replace), runs(20, 200));
  });
});

/** These tests can fail only on PostgreSQL, because the embedded database runs one transaction at a time. */
describe('exactly one of eight concurrent requests with the same If-Match succeeds', () => {
  const many = Array.from({ length: 8 }, (_, i) => i + 1);

  test.each<[path: string, change: (i: number) => [on: string, body: object]]>([
    ['/pets/1', (i) => ['PATCH /pets/1', { name: `Rex ${i}` }]],
    ['/categories/1', (i) => ['PUT /categories/1', { name: `Dogs ${i}` }]],
    ['/store/orders/1', (i) => ['PATCH /store/orders/1', { shipDate: `2027-01-0${i}T00:00:00Z` }]],
    ['/store/inventory/1', (i) => ['PUT /store/inventory/1', { quantity: 100 + i }]],
  ])('if all of them change %s', async (path, change) => {
    const tag = await tagOf(path);
    const answers = await Promise.all(many.map((i) => sendIf(tag, ...change(i))));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...many.slice(1).map(() => 412)]);
    expect((await send(gateway, `GET ${path}`)).text).toBe(answers.find(({ status }) => status === 200)?.text);
  });

  test.each([
    ['PATCH /store/orders/1', { complete: true }],
    ['PUT /store/inventory/1', { quantity: 1 }],
  ])('if half of the requests are %s %j and the other half delete the resource', async (on, body) => {
    const tag = await tagOf(pathOf(on));
    const answers = await Promise.all(
      many.map((i) => (i % 2 ? sendIf(tag, `DELETE ${pathOf(on)}`) : sendIf(tag, on, body))),
    );
    expect(answers.filter(({ status }) => status < 300)).toHaveLength(1);
    expect(answers.filter(({ status }) => ![200, 204, 404, 412].includes(status))).toEqual([]);
  });
});
