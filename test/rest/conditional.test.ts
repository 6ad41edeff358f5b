import fc from 'fast-check';
import { OPERATIONS } from '../../src/petstore/operations';
import { runs } from '../helper/full';
import { type Gateway, startGateway } from '../helper/gateway';
import { type Answer, contentOf, send } from './client';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** A category with one pet, which has stock and an order, for each test. */
let ids: { category: number; pet: number; order: number };
beforeEach(async () => {
  const created = async (on: string, body: object) => ((await send(gateway, on, body)).json as { id: number }).id;
  const category = await created('POST /categories', { name: 'Dogs', description: 'Good ones' });
  const pet = await created('POST /pets', { name: 'Rex', categoryId: category });
  await send(gateway, `PUT /store/inventory/${pet}`, { quantity: 5 });
  const shipDate = '2026-12-01T09:30:00.120+01:00';
  ids = { category, pet, order: await created('POST /store/orders', { petId: pet, quantity: 2, shipDate }) };
});

/** Of `PUT /pets/1` and its like, in which 1 stands for what the test has. */
function own(on: string): string {
  return on
    .replace(/(?<=\/(pets|inventory)\/)1$/, String(ids.pet))
    .replace(/(?<=\/categories\/)1$/, String(ids.category))
    .replace(/(?<=\/orders\/)1$/, String(ids.order));
}

/** A body whose pet is in the category that the test has. */
function bodyOf(body: object | undefined): object | undefined {
  return body && 'categoryId' in body ? { ...body, categoryId: ids.category } : body;
}

/** Sends a request that is to be carried out only if the resource has this tag. */
function sendIf(tag: string | undefined, on: string, body?: object, headers: Record<string, string> = {}) {
  return send(gateway, own(on), bodyOf(body), { 'if-match': tag, ...headers });
}

async function tagOf(path: string): Promise<string> {
  return String((await send(gateway, `GET ${own(path)}`)).headers.etag);
}

const STALE = '"AAAAAAAAAAAAAAAAAAAAAAAAAAA"';
const FAILED = { code: 'PRECONDITION_FAILED', status: 412 };

const CHANGES: [on: string, body: object | undefined, ok: number][] = [
  ['PUT /pets/1', { name: 'Max', categoryId: 1 }, 200],
  ['PATCH /pets/1', { status: 'sold' }, 200],
  ['PUT /categories/1', { name: 'Hounds' }, 200],
  ['PATCH /categories/1', { description: null }, 200],
  ['PATCH /store/orders/1', { quantity: 1, shipDate: null }, 200],
  ['DELETE /store/orders/1', undefined, 204],
  ['PUT /store/inventory/1', { quantity: 9 }, 200],
  ['DELETE /store/inventory/1', undefined, 204],
];

test('every operation that changes what is there is tested here', () => {
  const known = [...CHANGES.map(([on]) => on), 'DELETE /pets/1', 'DELETE /categories/1'];
  const conditional = OPERATIONS.filter(({ on }) => /^(PUT|PATCH|DELETE) /.test(on));
  expect(known.sort()).toEqual(conditional.map(({ on }) => on.replace(/\{\w+\}/, '1')).sort());
});

describe.each(CHANGES)('%s', (on, body, ok) => {
  const path = on.slice(on.indexOf(' ') + 1);

  test('is made for the version that a read has given', async () => {
    const { status } = await sendIf(await tagOf(path), on, body);
    expect(status).toBe(ok);
  });

  test('is refused for any other version, and changes nothing', async () => {
    const before = await contentOf(gateway);
    const tag = await tagOf(path);
    for (const tags of [STALE, '""', `W/${tag}`, `${STALE}, W/${tag}`]) {
      const { status, json } = await sendIf(tags, on, body);
      expect([tags, status, json]).toEqual([tags, 412, expect.objectContaining(FAILED)]);
    }
    expect(await contentOf(gateway)).toBe(before);
  });

  test('is made for one of several versions', async () => {
    const tags = `${STALE} ,, ${await tagOf(path)},"other,with,commas"`;
    expect((await sendIf(tags, on, body)).status).toBe(ok);
  });

  test('is made for * if it exists', async () => {
    expect((await sendIf(' * ', on, body)).status).toBe(ok);
  });

  test('is refused if the header is malformed', async () => {
    for (const tags of ['', ',', 'abc', '"a', '*, "a"', 'w/"a"', '"a" "b"', '"a b"']) {
      const { status, json } = await sendIf(tags, on, body);
      const told = { code: 'BAD_USER_INPUT', details: [expect.objectContaining({ path: 'If-Match' })] };
      expect([tags, status, json]).toEqual([tags, 400, expect.objectContaining(told)]);
    }
  });
});

describe('a deletion', () => {
  test.each<[string, object]>([
    ['/pets', { name: 'Tom', categoryId: 1 }],
    ['/categories', { name: 'Cats' }],
  ])('of one of %s is made for its version only', async (path, body) => {
    const { headers } = await send(gateway, `POST ${path}`, bodyOf(body));
    expect((await sendIf(STALE, `DELETE ${headers.location}`)).status).toBe(412);
    expect((await sendIf(headers.etag, `DELETE ${headers.location}`)).status).toBe(204);
  });

  test('that the shop would refuse is refused for its version first', async () => {
    for (const path of ['/pets/1', '/categories/1']) {
      expect((await sendIf(STALE, `DELETE ${path}`)).status).toBe(412);
      expect((await sendIf(await tagOf(path), `DELETE ${path}`)).status).toBe(409);
    }
  });
});

describe('what is not there', () => {
  // RFC 9110, section 13.2.1: what would fail without the precondition fails in the same way with it.
  test.each([
    ['PUT /pets/999999', { name: 'Max', categoryId: 1 }],
    ['PATCH /pets/999999', {}],
    ['DELETE /pets/999999', undefined],
    ['PATCH /categories/999999', {}],
    ['DELETE /store/orders/999999', undefined],
    ['PUT /store/inventory/999999', { quantity: 1 }],
    ['DELETE /store/inventory/999999', undefined],
  ])('%s is 404 with and without a precondition', async (on, body) => {
    for (const tag of [undefined, '*', STALE]) expect([tag, (await sendIf(tag, on, body)).status]).toEqual([tag, 404]);
  });

  test('stock that a PUT would create is no version of anything', async () => {
    const on = 'PUT /store/inventory/1';
    await sendIf(undefined, 'DELETE /store/inventory/1');
    for (const tag of ['*', STALE])
      expect(await sendIf(tag, on, { quantity: 1 })).toMatchObject({ status: 412, json: FAILED });
    expect((await sendIf(undefined, on, { quantity: 1 })).status).toBe(200);
  });
});

describe('the tag of an answer', () => {
  test.each<[string, object]>([
    ['POST /categories', { name: 'Cats "\\\u0001\u007f\u2028\ud83d\ude3a%s' }],
    ['PATCH /categories/1', { description: 'a\tb\nc' }],
    ['POST /pets', { name: "Tom's \u00e9", categoryId: 1 }],
    ['PUT /pets/1', { name: 'Max', categoryId: 1, status: 'pending' }],
    ['POST /store/orders', {}],
    ['PATCH /store/orders/1', { shipDate: '0001-01-01T00:00:00Z', complete: true }],
    ['PUT /store/inventory/1', { quantity: 0 }],
  ])('to %s %j is that of a read, and good for the next change', async (on, body) => {
    const { headers } = await sendIf(undefined, on, body);
    const path = headers.location ?? own(on).slice(own(on).indexOf(' ') + 1);
    expect(headers.etag).toBe(await tagOf(path));
    expect(headers['cache-control']).toBe('no-store');
    const isStock = path.startsWith('/store/inventory');
    const next = isStock
      ? sendIf(headers.etag, `PUT ${path}`, { quantity: 1 })
      : sendIf(headers.etag, `PATCH ${path}`, {});
    expect((await next).status).toBe(200);
  });

  test('is that of a read whatever the texts are', async () => {
    const text = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 40 })
      .map((each) => each.replaceAll('\0', '').trim());
    const category = fc.record({ name: text.map((each) => each || 'x'), description: text });
    const look = async (body: object) => {
      const { status, headers } = await sendIf(undefined, 'PUT /categories/1', body);
      expect([status, headers.etag]).toEqual([200, await tagOf('/categories/1')]);
    };
    await fc.assert(fc.asyncProperty(category, look), runs(20, 200));
  });

  test("of stock changes with its pet's status, which it shows", async () => {
    const tag = await tagOf('/store/inventory/1');
    await sendIf(undefined, 'PATCH /pets/1', { status: 'sold' });
    expect((await sendIf(tag, 'PUT /store/inventory/1', { quantity: 1 })).status).toBe(412);
  });

  test('is ignored by reads and by POST', async () => {
    expect((await sendIf(STALE, 'GET /pets/1')).status).toBe(200);
    expect((await sendIf(STALE, 'POST /categories', { name: 'Cats' })).status).toBe(201);
  });

  test('is ignored by GraphQL, which has none', async () => {
    const { data } = await gateway.graphql(
      'mutation { updatePet(id: 1, input: { name: "Max" }) { name } }',
      undefined,
      {
        'if-match': STALE,
      },
    );
    expect(data.updatePet).toEqual({ name: 'Max' });
  });
});

describe('with an idempotency key', () => {
  const key = () => ({ 'idempotency-key': `pet-${ids.pet}` });
  const on = 'PATCH /pets/1';

  test('the stored answer is replayed, though the version has changed by it', async () => {
    const tag = await tagOf('/pets/1');
    const first = await sendIf(tag, on, { name: 'Max' }, key());
    const again = await sendIf(tag, on, { name: 'Max' }, key());
    expect([first.status, again.status, again.text, again.headers.etag]).toEqual([
      200,
      200,
      first.text,
      first.headers.etag,
    ]);
    expect(again.headers['idempotent-replayed']).toBe('true');
  });

  test('a refused change is not stored: after another read the key is good for it', async () => {
    expect((await sendIf(STALE, on, { name: 'Max' }, key())).status).toBe(412);
    const second = await sendIf(await tagOf('/pets/1'), on, { name: 'Max' }, key());
    expect([second.status, second.headers['idempotent-replayed']]).toEqual([200, undefined]);
  });
});

/** Proven on PostgreSQL: the embedded database runs one transaction at a time. */
describe('of many clients with the same version exactly one wins', () => {
  const many = Array.from({ length: 8 }, (_, i) => i + 1);
  const statuses = (answers: Answer[]) => answers.map(({ status }) => status).sort();

  test.each<[string, (i: number) => [on: string, body?: object]]>([
    ['/pets/1', (i) => ['PATCH /pets/1', { name: `Rex ${i}` }]],
    ['/categories/1', (i) => ['PUT /categories/1', { name: `Dogs ${i}` }]],
    ['/store/orders/1', (i) => ['PATCH /store/orders/1', { shipDate: `2027-01-0${i}T00:00:00Z` }]],
    ['/store/inventory/1', (i) => ['PUT /store/inventory/1', { quantity: 100 + i }]],
  ])('%s, changed', async (path, change) => {
    const tag = await tagOf(path);
    const answers = await Promise.all(many.map((i) => sendIf(tag, ...change(i))));
    expect(statuses(answers)).toEqual([200, ...many.slice(1).map(() => 412)]);
    const winner = answers.find(({ status }) => status === 200);
    expect((await send(gateway, `GET ${own(path)}`)).text).toBe(winner?.text);
  });

  test.each(['/store/orders/1', '/store/inventory/1'])('%s, deleted and changed', async (path) => {
    const tag = await tagOf(path);
    const body = path.includes('orders') ? { complete: true } : { quantity: 1 };
    const method = path.includes('orders') ? 'PATCH' : 'PUT';
    const answers = await Promise.all(
      many.map((i) => (i % 2 ? sendIf(tag, `DELETE ${path}`) : sendIf(tag, `${method} ${path}`, body))),
    );
    expect(answers.filter(({ status }) => status < 300)).toHaveLength(1);
    expect(answers.filter(({ status }) => ![200, 204, 404, 412].includes(status))).toEqual([]);
  });
});
