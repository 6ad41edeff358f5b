import { fillShop } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';
import { titled } from '../helper/titled';
import { badInput, contentOf, send } from './client';

let gateway: Gateway;
let before: string;
beforeAll(async () => {
  gateway = await startGateway();
  await fillShop(gateway.database);
  before = await contentOf(gateway);
});
// Refused requests have changed nothing.
afterEach(async () => expect(await contentOf(gateway)).toBe(before));
afterAll(() => gateway.close());

const ID = 'must be an integer from 1 to 9223372036854775807';
const INT = 'must be an integer from -2147483648 to 2147483647';
const STATUS = 'must be one of available, pending, sold';
const BEYOND = '9223372036854775808';
const LAST = '9223372036854775807';

describe('identifiers in paths', () => {
  const operations = [
    'GET /pets/{}',
    'PUT /pets/{}',
    'PATCH /pets/{}',
    'DELETE /pets/{}',
    'GET /categories/{}',
    'PUT /categories/{}',
    'PATCH /categories/{}',
    'DELETE /categories/{}',
    'GET /store/orders/{}',
    'PATCH /store/orders/{}',
    'DELETE /store/orders/{}',
    'GET /store/inventory/{}',
    'PUT /store/inventory/{}',
    'DELETE /store/inventory/{}',
  ];
  const bodies: Record<string, object> = {
    'PUT /pets/{}': { name: 'Mia', categoryId: 1 },
    'PUT /categories/{}': { name: 'Mia' },
    'PUT /store/inventory/{}': { quantity: 1 },
  };
  const bodyOf = (on: string) => bodies[on] ?? (on.startsWith('PATCH') ? {} : undefined);
  const parameterOf = (on: string) =>
    on.includes('categories') ? 'categoryId' : on.includes('orders') ? 'orderId' : 'petId';

  test.each(operations)('%s: the largest int64 is not found', async (on) => {
    const answer = await send(gateway, on.replace('{}', LAST), bodyOf(on));
    expect(answer).toMatchObject({ status: 404, json: { code: 'NOT_FOUND', status: 404 } });
    expect((answer.json as { message: string }).message).toContain(LAST);
  });

  test.each(operations)('%s: one more is not an int64', async (on) => {
    const { status, json } = await send(gateway, on.replace('{}', BEYOND), bodyOf(on));
    expect(status).toBe(400);
    expect(json).toMatchObject(badInput({ path: parameterOf(on), message: ID }));
  });

  const malformed = [
    ...['0', '-1', '1.5', '1e3', '0x1', '007', '+1', 'abc', 'abcdefghijkl', '000000000001', '%20', '1%20'],
    ...['%00', '%0A', '1%2F2', 'null', 'NaN', '%F0%9F%90%95', '٣', '9'.repeat(5000)],
  ];
  test.each(malformed.map((id) => titled([id])))('GET /pets/%s is refused', async (_title, id) => {
    const { status, json } = await send(gateway, `GET /pets/${id}`);
    expect(status).toBe(400);
    expect(json).toMatchObject(badInput({ path: 'petId', message: ID }));
  });

  test.each(['/pets/', '/pets/1/', '/pets/1/2', '/Pets', '/store'])('GET %s does not exist', async (path) => {
    expect(await send(gateway, `GET ${path}`)).toMatchObject({ status: 404, json: { code: 'NOT_FOUND' } });
  });

  test.each(['/pets/%', '/pets/%zz', '/pets/%ff', '/pets?name=%ff'])('GET %s is malformed', async (path) => {
    expect(await send(gateway, `GET ${path}`)).toMatchObject({ status: 400, json: { code: 'BAD_REQUEST' } });
  });
});

describe('query parameters', () => {
  const once = (path: string) => ({ path, message: 'must not be repeated' });
  const unknown = (path: string) => ({ path, message: 'is not a parameter of this operation' });
  const limit = { path: 'limit', message: 'must be an integer from 1 to 100' };
  const cursor = { path: 'cursor', message: 'is not a cursor of this list in this order' };

  const refused: [path: string, ...details: { path: string; message: string }[]][] = [
    ['/pets?limit=0', limit],
    ['/pets?limit=101', limit],
    ['/pets?limit=-1', limit],
    ['/pets?limit=', limit],
    ['/pets?limit', limit],
    ['/pets?limit=abc', limit],
    ['/pets?limit=1.5', limit],
    ['/pets?limit=1e1', limit],
    ['/pets?limit=010', limit],
    ['/pets?limit=%2B5', limit],
    ['/pets?limit=2147483648', limit],
    ['/pets?limit=1&limit=2', once('limit')],
    ['/pets?cursor=', cursor],
    ['/pets?cursor=abc', cursor],
    ['/pets?cursor=%00', cursor],
    ['/pets?cursor=a&cursor=b', once('cursor')],
    ['/pets?sort=', { path: 'sort', message: 'must be one of id, -id, name, -name' }],
    ['/pets?sort=age', { path: 'sort', message: 'must be one of id, -id, name, -name' }],
    ['/pets?sort=NAME', { path: 'sort', message: 'must be one of id, -id, name, -name' }],
    ['/pets?sort=id&sort=name', once('sort')],
    ['/categories?sort=status', { path: 'sort', message: 'must be one of id, -id, name, -name' }],
    ['/store/orders?sort=name', { path: 'sort', message: 'must be one of id, -id, shipDate, -shipDate' }],
    ['/store/inventory?sort=id', { path: 'sort', message: 'must be one of petId, -petId, quantity, -quantity' }],
    ['/pets?id=0', { path: 'id', message: ID }],
    ['/pets?id=', { path: 'id', message: ID }],
    ['/pets?id=1,2', { path: 'id', message: ID }],
    ['/pets?id=abcdefghijkl', { path: 'id', message: ID }],
    [`/pets?id=1&id=${BEYOND}`, { path: 'id.1', message: ID }],
    ['/pets?status=gone', { path: 'status', message: STATUS }],
    ['/pets?status=available&status=', { path: 'status.1', message: STATUS }],
    ['/pets?status=AVAILABLE', { path: 'status', message: STATUS }],
    ['/pets?categoryId=x', { path: 'categoryId', message: ID }],
    ['/pets?name=a&name=b', once('name')],
    ['/pets?name=%00', { path: 'name', message: 'must not contain the NUL character' }],
    [`/pets?name=${'x'.repeat(256)}`, { path: 'name', message: 'must have at most 255 characters' }],
    [`/categories?name=${'%F0%9F%90%95'.repeat(256)}`, { path: 'name', message: 'must have at most 255 characters' }],
    ['/store/orders?complete=true&complete=false', once('complete')],
    ['/store/orders?petId=1&petId=0', { path: 'petId.1', message: ID }],
    ['/store/orders?id=x', { path: 'id', message: ID }],
    ['/store/inventory?petId=1.5', { path: 'petId', message: ID }],
    ['/store/orders?petId=-1', { path: 'petId', message: ID }],
    ['/store/orders?complete=', { path: 'complete', message: 'must be true or false' }],
    ['/store/orders?complete=1', { path: 'complete', message: 'must be true or false' }],
    ['/store/orders?complete=TRUE', { path: 'complete', message: 'must be true or false' }],
    ['/store/inventory?maxQuantity=few', { path: 'maxQuantity', message: INT }],
    ['/store/inventory?maxQuantity=1&maxQuantity=2', once('maxQuantity')],
    ['/store/inventory?status=x', { path: 'status', message: STATUS }],
    ['/pets?colour=red', unknown('colour')],
    ['/pets?Limit=1', unknown('Limit')],
    ['/pets?status[]=sold', unknown('status[]')],
    ['/pets?=1', unknown('')],
    ['/pets?__proto__=1', unknown('__proto__')],
    ['/pets?constructor=1&toString=2', unknown('constructor'), unknown('toString')],
    ['/pets?first=1&after=x', unknown('first'), unknown('after')],
    ['/categories?status=sold', unknown('status')],
    ['/store/orders?status=sold', unknown('status')],
    ['/pets/1?limit=1', unknown('limit')],
    ['/store/inventory/1?x', unknown('x')],
    [
      `/pets?limit=0&name=${'x'.repeat(256)}&status=gone`,
      limit,
      { path: 'name', message: 'must have at most 255 characters' },
      { path: 'status', message: STATUS },
    ],
    ['/pets?x=1&limit=a&sort=b', unknown('x'), limit, { path: 'sort', message: 'must be one of id, -id, name, -name' }],
  ];
  test.each(refused.map((row) => titled(row)))('GET %s', async (_title, path, ...details) => {
    const { status, json } = await send(gateway, `GET ${path}`);
    expect(status).toBe(400);
    expect(json).toMatchObject(badInput(...details));
  });

  test.each<[string, unknown]>([
    ['POST /pets?x=1', { name: 'Mia', categoryId: 1 }],
    ['PUT /pets/1?x=1', { name: 'Mia', categoryId: 1 }],
    ['PATCH /pets/1?x=1', {}],
    ['DELETE /pets/3?x=1', undefined],
  ])('%s takes none', async (on, body) => {
    const { status, json } = await send(gateway, on, body);
    expect(status).toBe(400);
    expect(json).toMatchObject(badInput(unknown('x')));
  });
});

describe('bodies', () => {
  const given = (path: string) => ({ path, message: 'is required' });
  const notNull = (path: string) => ({ path, message: 'must not be null' });
  const notKept = (path: string) => ({
    path,
    message: 'must not be null; omit it to keep the current value',
  });
  const noField = (path: string, schema: string) => ({ path, message: `is not a field of ${schema}` });
  const id = (path: string) => ({ path, message: ID });
  const equal = (path: string) => ({ path, message: `must be omitted or equal to ${path} in the path` });
  const ordered = { path: 'quantity', message: 'must be an integer from 1 to 2147483647' };
  const stock = { path: 'quantity', message: 'must be an integer from 0 to 2147483647' };

  const refused: [on: string, body: unknown, ...details: { path: string; message: string }[]][] = [
    // missing, null, unknown
    ['PUT /pets/1', { status: 'sold' }, given('name'), given('categoryId')],
    ['PUT /pets/1', { name: 'Mia', categoryId: 1, petId: 1 }, noField('petId', 'NewPet')],
    ['PATCH /pets/1', { name: null }, notKept('name')],
    ['PATCH /pets/1', { categoryId: null, status: null }, notKept('categoryId'), notKept('status')],
    ['PUT /categories/1', { name: null }, notNull('name')],
    ['PATCH /categories/1', { name: null }, notKept('name')],
    ['PATCH /store/orders/1', { complete: null }, notKept('complete')],
    ['PUT /store/inventory/1', { quantity: 1, status: 'sold' }, noField('status', 'InventoryUpdate')],
    // names of built-in properties
    ['POST /categories', '{"name":"x","__proto__":{"description":"y"}}', noField('__proto__', 'NewCategory')],
    [
      'POST /categories',
      '{"__proto__":{"name":"x"},"n":1234567890123456789}',
      noField('__proto__', 'NewCategory'),
      noField('n', 'NewCategory'),
      given('name'),
    ],
    [
      'PATCH /pets/1',
      { constructor: 1, toString: 2 },
      noField('constructor', 'PetUpdate'),
      noField('toString', 'PetUpdate'),
    ],
    // int64
    ['POST /pets', { name: 'Mia', categoryId: 0 }, id('categoryId')],
    ['POST /pets', { name: 'Mia', categoryId: -1 }, id('categoryId')],
    ['POST /pets', { name: 'Mia', categoryId: 1.5 }, id('categoryId')],
    ['POST /pets', { name: 'Mia', categoryId: '1' }, id('categoryId')],
    ['POST /pets', '{"name":"Mia","categoryId":1.0}', id('categoryId')],
    ['POST /pets', '{"name":"Mia","categoryId":1e0}', id('categoryId')],
    ['POST /pets', '{"name":"Mia","categoryId" : 1E0 }', id('categoryId')],
    ['POST /pets', '{"name":"Mia","categoryId":1e400}', id('categoryId')],
    ['POST /pets', '{"name":"Mia","categoryId":-0}', id('categoryId')],
    ['POST /pets', `{"name":"Mia","categoryId":${BEYOND}}`, id('categoryId')],
    ['POST /pets', `{"name":"Mia","categoryId":-${LAST}}`, id('categoryId')],
    ['POST /pets', `{"name":"Mia","categoryId":${'9'.repeat(50_000)}}`, id('categoryId')],
    ['PATCH /store/orders/1', `{"petId":${BEYOND}}`, id('petId')],
    // what only JSON can say
    ['POST /store/orders', '{"quantity":12345678901234567890}', ordered],
    [
      'PATCH /pets/1',
      '{"name":"\\udc00","categoryId":1234567890123456}',
      { path: 'name', message: 'must not contain a lone surrogate' },
    ],
    // a wrong type hides no broken rule, and no rule another
    [
      'PUT /pets/1',
      { name: 'x'.repeat(256), categoryId: 'x' },
      { path: 'name', message: 'must have at most 255 characters' },
      id('categoryId'),
    ],
    ['PATCH /pets/1', { name: null, status: 'gone' }, notKept('name'), { path: 'status', message: STATUS }],
    [
      'POST /categories',
      { description: 'x'.repeat(2001), colour: 'red' },
      { path: 'description', message: 'must have at most 2000 characters' },
      noField('colour', 'NewCategory'),
      given('name'),
    ],
    ['PATCH /store/orders/1', { quantity: 0, complete: null }, ordered, notKept('complete')],
    ['PATCH /store/orders/x', { quantity: 0, petId: 'x' }, { path: 'orderId', message: ID }, ordered, id('petId')],
    ['PUT /store/inventory/x', { quantity: -1 }, { path: 'petId', message: ID }, stock],
    ['PUT /store/inventory/1', { quantity: -1, petId: 2 }, stock, equal('petId')],
    ['PUT /pets/x', '[]', { path: 'petId', message: ID }, { path: 'body', message: 'must be a JSON object' }],
    // not objects
    ['POST /pets', '[]', { path: 'body', message: 'must be a JSON object' }],
    ['POST /pets', 'null', { path: 'body', message: 'must be a JSON object' }],
    ['POST /pets', '"Mia"', { path: 'body', message: 'must be a JSON object' }],
    ['POST /pets', '5', { path: 'body', message: 'must be a JSON object' }],
    ['POST /pets', '1234567890123456789', { path: 'body', message: 'must be a JSON object' }],
    ['PATCH /pets/1', '[{"name":"x"}]', { path: 'body', message: 'must be a JSON object' }],
    ['PUT /store/inventory/1', 'true', { path: 'body', message: 'must be a JSON object' }],
  ];
  test.each(refused.map((row) => titled(row, 2)))('%s', async (_title, on, body, ...details) => {
    const { status, json } = await send(gateway, on, body);
    expect(status).toBe(400);
    expect(json).toMatchObject(badInput(...details));
  });

  test('an unknown categoryId beyond 2^53 is reported exactly', async () => {
    const { status, json } = await send(gateway, 'POST /pets', `{"name":"Mia","categoryId":${LAST}}`);
    expect(status).toBe(422);
    expect(json).toMatchObject({ code: 'UNKNOWN_REFERENCE', message: `Category ${LAST} does not exist.` });
  });

  const malformed = [
    '{',
    '{"name":}',
    "{'name':'Mia'}",
    '{"name":"Mia",}',
    'name=Mia',
    '{"name":"a\nb"}',
    '{"n":12345678901234567890',
    `${'['.repeat(90_000)}1234567890123456`,
    '{"a":01}',
    'undefined',
  ];
  test.each(malformed.map((body) => titled([body])))('%s is malformed', async (_title, body) => {
    const { status, json } = await send(gateway, 'POST /pets', body);
    expect(status).toBe(400);
    expect(json).toMatchObject({ code: 'BAD_REQUEST', message: 'The body is not valid JSON.', status: 400 });
  });

  test('bytes that are not UTF-8 are malformed', async () => {
    const bytes = Buffer.from('{"name":"M\xfcller"}', 'latin1');
    expect(await send(gateway, 'POST /categories', bytes)).toMatchObject({
      status: 400,
      json: { code: 'BAD_REQUEST', message: 'The body is not valid UTF-8.' },
    });
  });

  test.each(['POST /pets', 'PUT /pets/1', 'PATCH /pets/1'])('%s requires a body', async (on) => {
    const empty = { status: 400, json: { code: 'BAD_REQUEST', message: 'The body must not be empty.' } };
    expect(await send(gateway, on)).toMatchObject(empty);
    expect(await send(gateway, on, '')).toMatchObject(empty);
  });

  test('the response to a flood of unknown fields stays small', async () => {
    const fields = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`field${index}`, 1]));
    const { status, text, json } = await send(gateway, 'PATCH /pets/1', fields);
    expect(status).toBe(400);
    expect((json as { details: unknown[] }).details).toHaveLength(100);
    expect(text.length).toBeLessThan(20_000);
  });
});
