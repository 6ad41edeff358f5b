import { statement } from '../../src/database/statement';
import { ADMIN_KEY, type Gateway } from '../helper/gateway';
import { largestResult } from '../helper/largest-result';
import { running, socketClient } from '../helper/live';
import { until } from '../helper/until';
import { fillToys, startToys } from '../toys/gateway';

const MAX = 20_000;
/** The gateway reserves this many bytes for the response around the data and errors. */
const RESERVE = 1000;

let gateway: Gateway;
let strict: Gateway;
beforeAll(async () => {
  gateway = await startToys();
  strict = await gateway.another({ MAX_RESPONSE_BYTES: String(MAX) });
});
beforeEach(() => fillToys(gateway.database));
afterAll(async () => {
  await strict.close();
  await gateway.close();
});

const REFUSED = { code: 'OPERATION_TOO_COMPLEX', status: 400, requestId: expect.any(String) };
const MESSAGE = `The response would be larger than ${MAX} bytes. Ask for shorter pages or fewer fields.`;

/** The size of a response in bytes. Expects status 200. */
async function sizeOf(query: string, instance = gateway): Promise<number> {
  const { statusCode, body } = await post(instance, query);
  expect(statusCode).toBe(200);
  return Buffer.byteLength(body);
}

function post(instance: Gateway, query: string) {
  return instance.app.inject({ method: 'POST', url: '/graphql', payload: { query } });
}

async function expectRefused(query: string): Promise<void> {
  const { status, data, errors } = await strict.graphql(query);
  expect(status).toBe(400);
  expect(data).toBeUndefined();
  expect(errors).toEqual([{ message: MESSAGE, extensions: REFUSED }]);
}

/** Adds toys that all have the same name, to box 1. */
async function addToys(count: number, name: string): Promise<void> {
  const add = statement('insert into toys (name, box_id) select $1, 1 from generate_series(1, $2::int)');
  await gateway.database.serviceSession().query(add, [name, count]);
}

const aliased = (count: number, field: string, of = 'alias') =>
  Array.from({ length: count }, (_, i) => `${of}${i}: ${field}`).join(' ');

test('introspection under many aliases is rejected as soon as it is too large', async () => {
  const long = 'a'.repeat(60);
  // The field `toy` makes the operation use quota, since operations that use no quota have a lower limit on cost.
  const document = `{ toy(id: 1) { id } ${aliased(48, '__schema { types { ...Type } }')} } fragment Type on __Type { ${aliased(38, 'name', long)} }`;
  // The limit on cost is high, so that only the limit on the response size rejects the document.
  const lenient = await gateway.another({ GRAPHQL_MAX_COST: '10000000' });
  const measure = async () => {
    const before = process.memoryUsage().heapUsed;
    const { status, errors } = await lenient.graphql(document);
    const grown = process.memoryUsage().heapUsed - before;
    expect([status, errors[0]?.message]).toEqual([400, MESSAGE.replace(String(MAX), '5000000')]);
    return grown;
  };
  // The first request also parses the document, and the heap has garbage of earlier tests in it.
  const grown = Math.min(await measure(), await measure());
  await lenient.close();
  expect(grown).toBeLessThan(50e6);
});

describe('a response that is too large is rejected:', () => {
  const page = (fields: string) => `{ toys(first: 100) { nodes { ${fields} } } }`;

  test.each([
    ['by PostgreSQL, for rows that PostgreSQL writes as JSON', 'id name'],
    [
      'by PostgreSQL, for the relations of rows, even if the executor writes the rows',
      'id a: name b: name box { id name toys { nodes { id } } }',
    ],
    ['by PostgreSQL, for lists in each row', 'box { toys(first: 100) { nodes { id name } } }'],
    ['by the executor, for repeated fields', aliased(5, 'name')],
    ['by the executor, for long names', `${aliased(5, 'id', 'a'.repeat(60))} box { toys { totalCount } }`],
  ])('%s', async (_who, fields) => {
    await addToys(100, 'Train of the long name '.repeat(10).trim());
    expect(await sizeOf(page(fields))).toBeGreaterThan(MAX);
    await expectRefused(page(fields));
  });

  test('for introspection', () =>
    expectRefused('{ __schema { types { name description fields { name description args { name description } } } } }'));

  test('for many errors', async () => {
    await addToys(1, 'Train');
    const { toys } = await strict.data('{ toys(first: 1) { nodes { id } } }');
    const id = toys?.nodes?.map(({ id }) => id)[0];
    await expectRefused(`{ ${aliased(90, `toy(id: ${id}) { box { toys(first: 0) { totalCount } } }`)} }`);
  });

  test('over REST', async () => {
    await addToys(100, 'R'.repeat(250));
    const response = await strict.app.inject({ url: '/toys?limit=100' });
    expect(response.statusCode).toBe(400);
    expect(response.json()).toMatchObject({ code: 'OPERATION_TOO_COMPLEX', message: MESSAGE });
    expect((await strict.app.inject({ url: '/toys?limit=10' })).statusCode).toBe(200);
  });
});

describe('the database stops sending rows once they exceed the limit:', () => {
  const NAME = '🪀'.repeat(255);
  afterEach(() => jest.restoreAllMocks());

  test.each([
    ['a page', '{ toys(first: 100) { nodes { id name } } }'],
    ['a page in another order', '{ toys(first: 100, orderBy: { field: NAME }) { nodes { id name } } }'],
    ['edges', '{ toys(first: 100) { edges { cursor node { name box { name } } } } }'],
    ['rows that the executor writes', '{ toys(first: 100) { nodes { id name again: name } } }'],
    ['pages nested in other rows', '{ boxes { nodes { toys(first: 100) { nodes { id name } } } } }'],
  ])('%s', async (_what, query) => {
    await addToys(200, NAME);
    expect(await largestResult(gateway.database, () => gateway.graphql(query))).toBeGreaterThan(90_000);
    expect(await largestResult(gateway.database, () => expectRefused(query))).toBeLessThan(4 * MAX);
  });
});

test.each([
  ['ASCII', 'Train'.repeat(50)],
  ['three bytes a character', '犬'.repeat(150)],
  ['four bytes a character', '🪀'.repeat(100)],
  ['escapes', '"\\\n\u0001'.repeat(40)],
])('bytes are counted exactly: %s', async (_name, name) => {
  await addToys(40, name);
  for (const fields of ['name', 'a: name b: name c: box { id }']) {
    const query = `{ toys(first: 100) { nodes { ${fields} } pageInfo { endCursor } } none: toy(id: 999) { id } box(id: 2) { toys(first: 1) { nodes { a: id b: id } } } }`;
    const size = await sizeOf(query);
    const fitting = await gateway.another({ MAX_RESPONSE_BYTES: String(Math.max(10_000, size + RESERVE)) });
    expect(await sizeOf(query, fitting)).toBe(size);
    await fitting.close();
    if (size < 10_500) continue;
    const tight = await gateway.another({ MAX_RESPONSE_BYTES: String(size - 100) });
    expect((await post(tight, query)).statusCode).toBe(400);
    await tight.close();
  }
});

describe('a mutation whose response is too large', () => {
  const create = (name: string) => `createToy(input: { name: "${name}" }) { ...Toy }`;
  const toys = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((key) => `${key}: ${create(key.repeat(250))}`);
  const mutation = `mutation { failed: updateToy(id: 99, input: { broken: true }) { id } ${toys.join(' ')} } fragment Toy on Toy { ${aliased(17, 'name', 'n')} }`;
  const created = async (): Promise<number> => {
    const [row] = await gateway.database
      .serviceSession()
      .query<{ count: bigint }>(statement('select count(*) from toys where length(name) = 250'), []);
    return Number(row?.count);
  };

  test('gets an error that names the fields that have run, but not the fields that failed', async () => {
    const { status, data, errors } = await strict.graphql(mutation);
    expect([status, data]).toEqual([400, undefined]);
    const done = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((path) => ({
      path,
      message: 'has been executed, and its changes remain',
    }));
    expect(errors).toEqual([{ message: MESSAGE, extensions: { ...REFUSED, details: done } }]);
    expect(await created()).toBe(done.length);
  });

  test('changes nothing if it has an idempotency key, and the key can be used again', async () => {
    const headers = { 'idempotency-key': 'large' };
    const one = `mutation { ${create('🪀'.repeat(250))} } fragment Toy on Toy { ${aliased(30, 'name')} }`;
    const { status, errors } = await strict.graphql(one, {}, headers);
    expect([status, errors]).toEqual([400, [{ message: MESSAGE, extensions: REFUSED }]]);
    expect(await created()).toBe(0);
    const { data } = await strict.graphql('mutation { createToy(input: { name: "Train" }) { name } }', {}, headers);
    expect(data).toEqual({ createToy: { name: 'Train' } });
  });
});

test('an event that is too large is replaced by an error, and the next event is sent', async () => {
  const client = socketClient(await strict.listen(), { 'x-api-key': ADMIN_KEY });
  const received = client.subscribe(`subscription { toyChanged { kind toy { ${aliased(30, 'name')} } } }`);
  await until(async () => (await running(strict)) > 0);
  const rename = (name: string) =>
    strict.data('mutation ($name: String) { updateToy(id: 1, input: { name: $name }) { id } }', { name });
  await rename('🪀'.repeat(200));
  await rename('Train');
  const [large, small] = await received.until(2);
  expect(large).toEqual({ errors: [{ message: MESSAGE, extensions: REFUSED }] });
  expect(small?.data?.toyChanged?.toy?.alias29).toBe('Train');
  client.close();
});
