import { statement } from '../../src/database/statement';
import { fillShop } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';
import { send } from './client';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
beforeEach(async () => {
  await fillShop(gateway.database);
});
afterAll(() => gateway.close());

const REX = { id: 1, name: 'Rex', status: 'available', categoryId: 1 };
const DOGS = { id: 1, name: 'Dogs', description: 'Loyal' };
const CATS = { id: 2, name: 'Cats' };
const ORDER = { id: 1, petId: 1, quantity: 2, complete: false };
const STOCK = { petId: 1, quantity: 3, status: 'available' };

describe('each operation responds', () => {
  test.each<[string, unknown, number, unknown]>([
    ['GET /pets?limit=1', undefined, 200, [REX]],
    ['POST /pets', { name: ' Mia ', categoryId: 2 }, 201, { id: 4, name: 'Mia', status: 'available', categoryId: 2 }],
    ['GET /pets/1', undefined, 200, REX],
    [
      'PUT /pets/2',
      { name: 'Bella', categoryId: 2, status: 'sold' },
      200,
      { id: 2, name: 'Bella', status: 'sold', categoryId: 2 },
    ],
    ['PATCH /pets/1', { status: 'sold' }, 200, { ...REX, status: 'sold' }],
    ['DELETE /pets/2', undefined, 204, undefined],
    ['GET /categories', undefined, 200, [DOGS, CATS]],
    ['POST /categories', { name: 'Birds', description: 'Loud' }, 201, { id: 3, name: 'Birds', description: 'Loud' }],
    ['GET /categories/2', undefined, 200, CATS],
    [
      'PUT /categories/2',
      { name: 'Felines', description: 'Aloof' },
      200,
      { id: 2, name: 'Felines', description: 'Aloof' },
    ],
    ['PATCH /categories/1', { name: 'Hounds' }, 200, { ...DOGS, name: 'Hounds' }],
    ['GET /store/orders', undefined, 200, [ORDER]],
    [
      'POST /store/orders',
      { petId: 2, quantity: 1, shipDate: '2026-12-01T10:30:00+01:00' },
      201,
      { id: 2, petId: 2, quantity: 1, shipDate: '2026-12-01T09:30:00.000Z', complete: false },
    ],
    ['POST /store/orders', {}, 201, { id: 2, complete: false }],
    ['GET /store/orders/1', undefined, 200, ORDER],
    ['PATCH /store/orders/1', { complete: true }, 200, { ...ORDER, complete: true }],
    ['DELETE /store/orders/1', undefined, 204, undefined],
    ['GET /store/inventory', undefined, 200, [STOCK]],
    ['GET /store/inventory/1', undefined, 200, STOCK],
    ['PUT /store/inventory/2', { quantity: 0 }, 200, { petId: 2, quantity: 0, status: 'pending' }],
    ['DELETE /store/inventory/1', undefined, 204, undefined],
  ])('%s %j', async (on, body, status, payload) => {
    const answer = await send(gateway, on, body);
    expect(answer).toMatchObject({ status });
    expect(answer.json).toStrictEqual(payload);
    expect(answer.headers['content-type']).toBe(status === 204 ? undefined : 'application/json; charset=utf-8');
  });

  test.each([
    ['POST /pets', { name: 'Mia', categoryId: 2 }, '/pets/4'],
    ['POST /categories', { name: 'Birds' }, '/categories/3'],
    ['POST /store/orders', {}, '/store/orders/2'],
  ])('%s returns the location of the new resource', async (on, body, location) => {
    const { headers, json } = await send(gateway, on, body);
    expect(headers.location).toBe(location);
    expect((await send(gateway, `GET ${location}`)).json).toEqual(json);
  });

  test.each(['DELETE /pets/2', 'DELETE /categories/2', 'DELETE /store/orders/1', 'DELETE /store/inventory/1'])(
    '%s deletes once',
    async (on) => {
      await send(gateway, 'DELETE /pets/3');
      expect(await send(gateway, on)).toMatchObject({ status: 204, text: '' });
      const path = on.replace('DELETE ', '');
      expect(await send(gateway, `GET ${path}`)).toMatchObject({ status: 404 });
      expect(await send(gateway, on)).toMatchObject({ status: 404, json: { code: 'NOT_FOUND' } });
    },
  );
});

describe('PUT replaces, PATCH changes', () => {
  test.each<[string, unknown, unknown]>([
    ['PUT /pets/2', { name: 'Bello', categoryId: 1 }, { id: 2, name: 'Bello', status: 'available', categoryId: 1 }],
    [
      'PUT /pets/2',
      { name: 'Bello', categoryId: 1, status: null },
      { id: 2, name: 'Bello', status: 'available', categoryId: 1 },
    ],
    ['PUT /categories/1', { name: 'Dogs' }, { id: 1, name: 'Dogs' }],
    ['PUT /categories/1', { name: 'Dogs', description: null }, { id: 1, name: 'Dogs' }],
    ['PATCH /categories/1', { description: null }, { id: 1, name: 'Dogs' }],
    ['PATCH /categories/1', {}, DOGS],
    ['PATCH /pets/2', {}, { id: 2, name: 'Bello', status: 'pending', categoryId: 1 }],
    ['PATCH /store/orders/1', { petId: null, quantity: null, shipDate: null }, { id: 1, complete: false }],
    ['PATCH /store/orders/1', {}, ORDER],
  ])('%s %j', async (on, body, payload) => {
    expect(await send(gateway, on, body)).toMatchObject({ status: 200 });
    expect((await send(gateway, on.replace(/^\w+/, 'GET'))).json).toStrictEqual(payload);
  });

  test.each([
    [
      'POST /pets',
      { name: 'Mia', categoryId: 2, status: null },
      { id: 4, name: 'Mia', status: 'available', categoryId: 2 },
    ],
    ['POST /categories', { name: 'Birds', description: null }, { id: 3, name: 'Birds' }],
    ['POST /store/orders', { petId: null, quantity: null, shipDate: null, complete: null }, { id: 2, complete: false }],
  ])('%s treats null in an optional field as absent', async (on, body, payload) => {
    expect((await send(gateway, on, body)).json).toStrictEqual(payload);
  });
});

describe('an id in a body', () => {
  test.each<[string, unknown]>([
    ['POST /pets', { id: 99, name: 'Mia', categoryId: 2 }],
    ['POST /categories', { id: 'x', name: 'Birds' }],
    ['POST /store/orders', { id: null }],
  ])('%s %j: is ignored', async (on, body) => {
    const { status, json } = await send(gateway, on, body);
    expect(status).toBe(201);
    expect((json as { id: number }).id).toBeLessThan(10);
  });

  test.each<[string, unknown]>([
    ['PUT /pets/1', { id: 1, name: 'Rex', categoryId: 1 }],
    ['PATCH /pets/1', { id: 1, name: 'Rex' }],
    ['PUT /categories/1', { id: 1, name: 'Dogs' }],
    ['PATCH /store/orders/1', { id: 1, petId: 1 }],
    ['PUT /store/inventory/1', { petId: 1, quantity: 1 }],
  ])('%s %j: is accepted if it is that of the path', async (on, body) => {
    expect(await send(gateway, on, body)).toMatchObject({ status: 200 });
  });

  test.each<[string, unknown, string]>([
    ['PUT /pets/1', { id: 2, name: 'Rex', categoryId: 1 }, 'id'],
    ['PATCH /pets/1', { id: '1' }, 'id'],
    ['PATCH /pets/1', { id: null }, 'id'],
    ['PATCH /pets/1', { id: [1] }, 'id'],
    ['PATCH /store/orders/1', { id: 2 }, 'id'],
    ['PUT /store/inventory/1', { petId: 2, quantity: 1 }, 'petId'],
    ['PUT /pets/1', '{ "id": 1.0, "name": "Rex", "categoryId": 1 }', 'id'],
  ])('%s %j: is refused if it is another', async (on, body, path) => {
    expect(await send(gateway, on, body)).toMatchObject({
      status: 400,
      json: { code: 'BAD_USER_INPUT', details: [{ path }] },
    });
  });
});

describe('identifiers beyond 2^53 are exact', () => {
  const ID = '9223372036854775806';
  const PET = `{"id":${ID},"name":"Max","status":"available","categoryId":${ID}}`;
  beforeEach(async () => {
    const { database } = gateway;
    await database.query(statement('insert into categories (id, name) values ($1, $2)'), [ID, 'Far']);
    await database.query(statement('insert into pets (id, name, category_id) values ($1, $2, $1)'), [ID, 'Max']);
  });

  test.each<[string, string | undefined, string]>([
    [`GET /pets/${ID}`, undefined, PET],
    [`GET /pets?id=${ID}`, undefined, `[${PET}]`],
    [`GET /pets?categoryId=${ID}`, undefined, `[${PET}]`],
    [`PATCH /pets/${ID}`, `{"id":${ID},"categoryId":${ID}}`, PET],
    [`PUT /pets/${ID}`, `{"id":${ID},"name":"Max","categoryId":${ID}}`, PET],
    [
      'POST /pets',
      `{"name":"Tim","categoryId":${ID}}`,
      `{"id":4,"name":"Tim","status":"available","categoryId":${ID}}`,
    ],
    ['POST /store/orders', `{"petId": ${ID} }`, `{"id":2,"petId":${ID},"complete":false}`],
    [`PUT /store/inventory/${ID}`, `{"petId":${ID},"quantity":3}`, `{"petId":${ID},"quantity":3,"status":"available"}`],
  ])('%s %s', async (on, body, text) => {
    expect((await send(gateway, on, body)).text).toBe(text);
  });

  test('the next number is another id', async () => {
    const body = '{"id":9223372036854775807}';
    expect(await send(gateway, `PATCH /pets/${ID}`, body)).toMatchObject({
      status: 400,
      json: { details: [{ path: 'id' }] },
    });
  });
});

describe('the rules of the shop', () => {
  test.each<[string, unknown, object]>([
    [
      'POST /pets',
      { name: 'Mia', categoryId: 7 },
      {
        code: 'UNKNOWN_REFERENCE',
        status: 422,
        message: 'Category 7 does not exist.',
        details: [{ path: 'categoryId' }],
      },
    ],
    [
      'PUT /pets/1',
      { name: 'Mia', categoryId: 7 },
      { code: 'UNKNOWN_REFERENCE', status: 422, details: [{ path: 'categoryId' }] },
    ],
    ['PATCH /pets/1', { categoryId: 7 }, { code: 'UNKNOWN_REFERENCE', status: 422, details: [{ path: 'categoryId' }] }],
    ['POST /store/orders', { petId: 7 }, { code: 'UNKNOWN_REFERENCE', status: 422, details: [{ path: 'petId' }] }],
    ['PATCH /store/orders/1', { petId: 7 }, { code: 'UNKNOWN_REFERENCE', status: 422, details: [{ path: 'petId' }] }],
    [
      'POST /store/orders',
      { petId: 1, quantity: 4 },
      {
        code: 'INSUFFICIENT_STOCK',
        status: 409,
        details: [{ path: 'quantity', message: 'exceeds the stock: 3' }],
      },
    ],
    [
      'PATCH /store/orders/1',
      { quantity: 6 },
      {
        code: 'INSUFFICIENT_STOCK',
        status: 409,
        details: [{ path: 'quantity', message: 'exceeds the stock: 5' }],
      },
    ],
    ['DELETE /categories/1', undefined, { code: 'CATEGORY_NOT_EMPTY', status: 409 }],
    ['DELETE /pets/1', undefined, { code: 'PET_HAS_ORDERS', status: 409 }],
    ['GET /pets/7', undefined, { code: 'NOT_FOUND', status: 404, message: 'Pet 7 does not exist.' }],
    [
      'PUT /pets/7',
      { name: 'Mia', categoryId: 1 },
      { code: 'NOT_FOUND', status: 404, message: 'Pet 7 does not exist.' },
    ],
    ['PATCH /pets/7', { name: 'Mia' }, { code: 'NOT_FOUND', status: 404, message: 'Pet 7 does not exist.' }],
    ['GET /categories/7', undefined, { code: 'NOT_FOUND', status: 404, message: 'Category 7 does not exist.' }],
    ['PATCH /categories/7', { name: 'Mia' }, { code: 'NOT_FOUND', status: 404, message: 'Category 7 does not exist.' }],
    ['GET /store/orders/7', undefined, { code: 'NOT_FOUND', status: 404, message: 'Order 7 does not exist.' }],
    ['PATCH /store/orders/7', {}, { code: 'NOT_FOUND', status: 404, message: 'Order 7 does not exist.' }],
    ['GET /store/inventory/2', undefined, { code: 'NOT_FOUND', status: 404, message: 'Pet 2 has no inventory entry.' }],
    ['PUT /store/inventory/7', { quantity: 1 }, { code: 'NOT_FOUND', status: 404, message: 'Pet 7 does not exist.' }],
    [
      'DELETE /store/inventory/2',
      undefined,
      { code: 'NOT_FOUND', status: 404, message: 'Pet 2 has no inventory entry.' },
    ],
  ])('%s %j is refused', async (on, body, error) => {
    const { status, json, headers } = await send(gateway, on, body);
    expect(json).toMatchObject({ ...error, message: expect.any(String), requestId: headers['x-request-id'] });
    expect(json).toMatchObject(error);
    expect((json as { status: number }).status).toBe(status);
  });

  test('a complete order keeps its pet and quantity', async () => {
    await send(gateway, 'PATCH /store/orders/1', { complete: true });
    expect(await send(gateway, 'PATCH /store/orders/1', { quantity: 1 })).toMatchObject({
      status: 409,
      json: { code: 'ORDER_COMPLETE' },
    });
  });

  test('the second of two concurrent deletes is 404', async () => {
    const answers = await Promise.all([send(gateway, 'DELETE /pets/2'), send(gateway, 'DELETE /pets/2')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404]);
  });
});

describe('GET /rate_limit', () => {
  test('reports the quota of the caller, and is free', async () => {
    const ask = () => gateway.server.inject({ url: '/rate_limit' });
    const { statusCode, body } = await ask();
    expect(statusCode).toBe(200);
    expect(JSON.parse(body)).toEqual({
      plan: 'FREE',
      windows: [
        { name: 'minute', limit: 60, remaining: 60, resetAt: expect.stringMatching(/Z$/) },
        { name: 'day', limit: 1000, remaining: 1000, resetAt: expect.stringMatching(/Z$/) },
      ],
    });
    expect((await ask()).headers['x-ratelimit-remaining']).toBe('60');
  });
});
