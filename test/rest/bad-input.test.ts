import { everyRow, fillShop } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';
import { titled } from '../helper/titled';
import { badInput, send } from './client';

let gateway: Gateway;
let before: string;
beforeAll(async () => {
  gateway = await startGateway();
  await fillShop(gateway.database);
  before = await everyRow(gateway.database);
});
// A rejected request changes nothing.
afterEach(async () => expect(await everyRow(gateway.database)).toBe(before));
afterAll(() => gateway.close());

const LARGEST = '9223372036854775807';
const TOO_LARGE = '9223372036854775808';

const ID = `must be an integer from 1 to ${LARGEST}`;
const LIMIT = 'must be an integer from 1 to 100';
const CURSOR = 'is not a cursor of this list in this order';
const REPEAT = '; repeat the parameter for several values';
const NO_STRING = ', as a JSON number, not a string';
const NO_FRACTION = ', without a fraction or an exponent';
const STATUS = 'must be one of available, pending, sold';
const BOOLEAN = 'must be true or false';
const ONCE = 'must not be repeated';
const UNKNOWN = 'is not a parameter of this operation';
const OBJECT = 'must be a JSON object';
const NULL = 'must not be null';
const KEEP = 'must not be null; omit it instead';
const QUANTITY = 'must be an integer from 1 to 2147483647';
const sort = (...fields: string[]) => `must be one of ${fields.flatMap((field) => [field, `-${field}`]).join(', ')}`;
const atMost = (length: number) => `must have at most ${length} characters`;
const fieldOf = (schema: string) => `is not a field of ${schema}`;

type Detail = readonly [path: string, message: string];

/** Sends a request that must be rejected with exactly these details. */
async function expectRejected(on: string, body: unknown, ...details: Detail[]): Promise<void> {
  const { status, json } = await send(gateway, on, body);
  const expected = badInput(...details.map(([path, message]) => ({ path, message })));
  expect({ on, status, json }).toMatchObject({ on, status: 400, json: expected });
}

describe('identifiers in paths', () => {
  test.each<[on: string, parameter: string, body?: object]>([
    ['GET /pets/', 'petId'],
    ['PUT /pets/', 'petId', { name: 'Mia', categoryId: 1 }],
    ['PATCH /pets/', 'petId', {}],
    ['DELETE /pets/', 'petId'],
    ['GET /categories/', 'categoryId'],
    ['PUT /categories/', 'categoryId', { name: 'Mia' }],
    ['PATCH /categories/', 'categoryId', {}],
    ['DELETE /categories/', 'categoryId'],
    ['GET /store/orders/', 'orderId'],
    ['PATCH /store/orders/', 'orderId', {}],
    ['DELETE /store/orders/', 'orderId'],
    ['GET /store/inventory/', 'petId'],
    ['PUT /store/inventory/', 'petId', { quantity: 1 }],
    ['DELETE /store/inventory/', 'petId'],
  ])('%s: the largest int64 gets 404, a larger number gets 400', async (on, parameter, ...[body]) => {
    const { status, json } = await send(gateway, `${on}${LARGEST}`, body);
    expect([status, json]).toEqual([404, expect.objectContaining({ message: expect.stringContaining(LARGEST) })]);
    await expectRejected(`${on}${TOO_LARGE}`, body, [parameter, ID]);
  });

  test('only a positive decimal integer is an identifier', async () => {
    const malformed = [
      ...['0', '-1', '1.5', '1e3', '0x1', '007', '+1', 'abc', 'abcdefghijkl', '000000000001', '%20', '1%20', '%00'],
      ...['%0A', '1%2F2', 'null', 'NaN', '%F0%9F%90%95', '٣', '9'.repeat(5000)],
    ];
    for (const id of malformed) await expectRejected(`GET /pets/${id}`, undefined, ['petId', ID]);
  });

  test.each([
    [404, 'NOT_FOUND', ['/pets/', '/pets/1/', '/pets/1/2', '/Pets', '/store', '/pets%2F1', '/pets.json', '/pets;a=b']],
    [400, 'BAD_REQUEST', ['/pets/%', '/pets/%zz', '/pets/%ff', '/pets?name=%ff']],
  ])('these paths get %i %s: %j', async (status, code, paths) => {
    for (const path of paths)
      expect(await send(gateway, `GET ${path}`)).toMatchObject({ status, json: { code, status } });
  });
});

describe('query parameters', () => {
  /** A query parameter, an error message, and the values that are rejected with this message. */
  test.each<[path: string, parameter: string, message: string, ...values: string[]]>([
    ['/pets', 'limit', LIMIT, '0', '101', '-1', '', 'abc', '1.5', '1e1', '010', '%2B5', '2147483648'],
    ['/pets', 'cursor', CURSOR, '', 'abc', '%00'],
    ['/pets', 'sort', sort('id', 'name'), '', 'age', 'NAME'],
    ['/categories', 'sort', sort('id', 'name'), 'status'],
    ['/store/orders', 'sort', sort('id', 'shipDate'), 'name'],
    ['/store/inventory', 'sort', sort('petId', 'quantity'), 'id'],
    ['/pets', 'id', ID, '0', '', 'abcdefghijkl'],
    ['/pets', 'id', ID + REPEAT, '1,2', '1%2C2', ','],
    ['/pets', 'status', STATUS, 'gone', 'AVAILABLE', ''],
    ['/pets', 'status', STATUS + REPEAT, 'available,sold', 'available,'],
    ['/store/orders', 'petId', ID + REPEAT, '1,2'],
    ['/store/orders', 'complete', BOOLEAN, 'true,false'],
    ['/pets', 'limit', LIMIT, '1,2'],
    ['/pets', 'categoryId', ID, 'x'],
    ['/pets', 'name', 'must not contain the NUL character', '%00'],
    ['/pets', 'name', atMost(255), 'x'.repeat(256)],
    ['/categories', 'name', atMost(255), '%F0%9F%90%95'.repeat(256)],
    ['/store/orders', 'id', ID, 'x'],
    ['/store/orders', 'petId', ID, '-1'],
    ['/store/orders', 'complete', BOOLEAN, '', '1', 'TRUE'],
    ['/store/inventory', 'petId', ID, '1.5'],
    ['/store/inventory', 'status', STATUS, 'x'],
    ['/store/inventory', 'maxQuantity', 'must be an integer from -2147483648 to 2147483647', 'few'],
  ])('GET %s rejects invalid values of %s', async (path, parameter, message, ...values) => {
    for (const value of values)
      await expectRejected(`GET ${path}?${parameter}=${value}`, undefined, [parameter, message]);
  });

  const rejected: [on: string, ...details: Detail[]][] = [
    ['GET /pets?limit', ['limit', LIMIT]],
    ['GET /pets?limit=1&limit=2', ['limit', ONCE]],
    ['GET /pets?cursor=a&cursor=b', ['cursor', ONCE]],
    ['GET /pets?sort=id&sort=name', ['sort', ONCE]],
    ['GET /pets?name=a&name=b', ['name', ONCE]],
    ['GET /store/orders?complete=true&complete=false', ['complete', ONCE]],
    ['GET /store/inventory?maxQuantity=1&maxQuantity=2', ['maxQuantity', ONCE]],
    [`GET /pets?id=1&id=${TOO_LARGE}`, ['id.1', ID]],
    ['GET /pets?status=available&status=', ['status.1', STATUS]],
    ['GET /store/orders?petId=1&petId=0', ['petId.1', ID]],
    ['GET /pets?status=sold&status=available,sold', ['status.1', STATUS + REPEAT]],
    ['GET /pets?status[]=sold&status[]=x', ['status[]', `${UNKNOWN}; repeat status for several values`]],
    ['GET /pets?id[0]=1', ['id[0]', `${UNKNOWN}; repeat id for several values`]],
    ...['colour', 'Limit', 'limit[]', 'colour[]', 'status[x]', '', '__proto__', 'first'].map(
      (name): [string, Detail] => [`GET /pets?${name}=1`, [name, UNKNOWN]],
    ),
    ['GET /pets?constructor=1&toString=2', ['constructor', UNKNOWN], ['toString', UNKNOWN]],
    ['GET /categories?status=sold', ['status', UNKNOWN]],
    ['GET /store/orders?status=sold', ['status', UNKNOWN]],
    ['GET /pets/1?limit=1', ['limit', UNKNOWN]],
    ['GET /store/inventory/1?x', ['x', UNKNOWN]],
    ['DELETE /pets/3?x=1', ['x', UNKNOWN]],
    ['GET /rate_limit?x=1', ['x', UNKNOWN]],
    ['GET /usage?limit=1', ['limit', UNKNOWN]],
    ['GET /pets?cursor=zz&limit=0', ['cursor', CURSOR], ['limit', LIMIT]],
    ['GET /events?cursor=zz&limit=0', ['cursor', 'is not a cursor of the change feed'], ['limit', LIMIT]],
    ['GET /pets?x=1&limit=a&sort=b', ['x', UNKNOWN], ['limit', LIMIT], ['sort', sort('id', 'name')]],
  ];
  test.each(rejected.map((row) => titled(row)))('%s is rejected', (_title, on, ...details) =>
    expectRejected(on, undefined, ...details),
  );

  test.each<[string, object]>([
    ['POST /pets?x=1', { name: 'Mia', categoryId: 1 }],
    ['PUT /pets/1?x=1', { name: 'Mia', categoryId: 1 }],
    ['PATCH /pets/1?x=1', {}],
  ])('%s accepts no query parameters', (on, body) => expectRejected(on, body, ['x', UNKNOWN]));
});

describe('bodies', () => {
  test('an id in JSON must be an integer from 1 to the largest int64, written only in digits', async () => {
    const wrong = [
      ...['0', '-1', '1.5', '"1"', '1.0', '1e0', ' 1E0 ', '1e400', '-0', TOO_LARGE, `-${LARGEST}`, '9'.repeat(50_000)],
    ];
    for (const id of wrong) {
      const hint = id.startsWith('"') ? NO_STRING : /[.eE]/.test(id) ? NO_FRACTION : '';
      await expectRejected('POST /pets', `{"name":"Mia","categoryId":${id}}`, ['categoryId', ID + hint]);
    }
    await expectRejected('PATCH /store/orders/1', `{"petId":${TOO_LARGE}}`, ['petId', ID]);
  });

  const rejected: [on: string, body: unknown, ...details: Detail[]][] = [
    // missing, null and unknown fields
    ['PUT /pets/1', { status: 'sold' }, ['name', 'is required'], ['categoryId', 'is required']],
    ['PUT /pets/1', { name: 'Mia', categoryId: 1, petId: 1 }, ['petId', fieldOf('NewPet')]],
    ['PUT /categories/1', { name: null }, ['name', NULL]],
    ['PUT /store/inventory/1', { quantity: 1, status: 'sold' }, ['status', fieldOf('InventoryUpdate')]],
    ['PATCH /pets/1', { categoryId: null, status: null }, ['categoryId', KEEP], ['status', KEEP]],
    ['PATCH /categories/1', { name: null }, ['name', KEEP]],
    ['PATCH /store/orders/1', { complete: null }, ['complete', KEEP]],
    // names of built-in properties
    ['POST /categories', '{"name":"x","__proto__":{"description":"y"}}', ['__proto__', fieldOf('NewCategory')]],
    [
      'POST /categories',
      '{"__proto__":{"name":"x"},"n":1234567890123456789}',
      ['__proto__', fieldOf('NewCategory')],
      ['n', fieldOf('NewCategory')],
      ['name', 'is required'],
    ],
    [
      'PATCH /pets/1',
      { constructor: 1, toString: 2 },
      ['constructor', fieldOf('PetUpdate')],
      ['toString', fieldOf('PetUpdate')],
    ],
    // values that exist in JSON text but not in JavaScript
    ['POST /store/orders', '{"quantity":12345678901234567890}', ['quantity', QUANTITY]],
    ['PATCH /pets/1', '{"name":"\\udc00"}', ['name', 'must not contain a lone surrogate']],
    // strings instead of numbers and booleans, as some generated clients send int64
    [
      'POST /store/orders',
      { quantity: '2', complete: 'true' },
      ['quantity', QUANTITY + NO_STRING],
      ['complete', `${BOOLEAN}, not a string`],
    ],
    ['PATCH /pets/1', { id: '1' }, ['id', `must be omitted or equal to petId in the path${NO_STRING}`]],
    [
      'PUT /store/inventory/1',
      '{"petId":1.0,"quantity":1.5}',
      ['petId', `must be omitted or equal to petId in the path${NO_FRACTION}`],
      ['quantity', `must be an integer from 0 to 2147483647${NO_FRACTION}`],
    ],
    // several errors in the path and the body, all of which are reported
    [
      'POST /store/inventory/x/adjustments',
      { by: 0, colour: 'red' },
      ['petId', ID],
      ['by', 'must not be 0'],
      ['colour', 'is not a field of InventoryAdjustment'],
    ],
    ['PUT /pets/1', { name: 'x'.repeat(256), categoryId: 'x' }, ['name', atMost(255)], ['categoryId', ID + NO_STRING]],
    ['PATCH /pets/1', { name: null, status: 'gone' }, ['name', KEEP], ['status', STATUS]],
    [
      'PATCH /store/orders/x',
      { quantity: 0, petId: 'x' },
      ['orderId', ID],
      ['quantity', QUANTITY],
      ['petId', ID + NO_STRING],
    ],
    [
      'PUT /store/inventory/1',
      { quantity: -1, petId: 2 },
      ['quantity', 'must be an integer from 0 to 2147483647'],
      ['petId', 'must be omitted or equal to petId in the path'],
    ],
    [
      'POST /categories',
      { description: 'x'.repeat(2001), colour: 'red' },
      ['description', atMost(2000)],
      ['colour', fieldOf('NewCategory')],
      ['name', 'is required'],
    ],
    // bodies that are not objects
    ['PUT /pets/x', '[]', ['petId', ID], ['body', OBJECT]],
    ...['[]', 'null', '"Mia"', '5', '1234567890123456789', 'true', '[{"name":"x"}]'].map(
      (body): [string, string, Detail] => ['POST /pets', body, ['body', OBJECT]],
    ),
    ['PATCH /pets/1', '[{"name":"x"}]', ['body', OBJECT]],
  ];
  test.each(rejected.map((row) => titled(row, 2)))('%s is rejected', (_title, on, body, ...details) =>
    expectRejected(on, body, ...details),
  );

  test('an error about an unknown categoryId above 2^53 contains the exact number', async () => {
    const { status, json } = await send(gateway, 'POST /pets', `{"name":"Mia","categoryId":${LARGEST}}`);
    const message = `Category ${LARGEST} does not exist.`;
    expect([status, json]).toEqual([422, expect.objectContaining({ code: 'UNKNOWN_REFERENCE', message })]);
  });

  const malformed = [
    ...['{', '{"name":}', "{'name':'Mia'}", '{"name":"Mia",}', 'name=Mia', '{"name":"a\nb"}', '{"a":01}', 'undefined'],
    ...['{"n":12345678901234567890', `${'['.repeat(90_000)}1234567890123456`],
  ];
  test.each(malformed.map((body) => titled([body])))('%s is rejected as malformed JSON', async (_title, body) => {
    const message = 'The body is not valid JSON.';
    expect(await send(gateway, 'POST /pets', body)).toMatchObject({
      status: 400,
      json: { code: 'BAD_REQUEST', message },
    });
  });

  test.each(['POST /pets', 'PUT /pets/1', 'PATCH /pets/1'])('%s requires a body', async (on) => {
    const empty = { status: 400, json: { code: 'BAD_REQUEST', message: 'The body must not be empty.' } };
    for (const body of [undefined, '']) expect(await send(gateway, on, body)).toMatchObject(empty);
  });

  test('the error for 5000 unknown fields reports only 100 of them', async () => {
    const fields = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`field${index}`, 1]));
    const { status, text, json } = await send(gateway, 'PATCH /pets/1', fields);
    expect([status, (json as { details: unknown[] }).details.length]).toEqual([400, 100]);
    expect(text.length).toBeLessThan(20_000);
  });
});
