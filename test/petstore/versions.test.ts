import { statement } from '../../src/database/statement';
import { everyRow, fillShop } from '../helper/database';
import { type Gateway, type Json, startGateway } from '../helper/gateway';
import { running, socketClient, useSubscribers } from '../helper/live';
import { until } from '../helper/until';
import { send } from '../rest/client';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
beforeEach(() => fillShop(gateway.database));
afterAll(() => gateway.close());

const FIELDS = 'createdAt updatedAt version';
const sql = (text: string) => gateway.database.serviceSession().query(statement(text), []);
const data = (query: string, variables?: object) => gateway.data<Record<string, Json>>(query, variables);
/** The fields of the rows that the shop has from the start: pet 1 in category 1, order 1 and the stock of pet 1. */
const READ = `{ pet(id: 1) { ${FIELDS} } category(id: 1) { ${FIELDS} } order(id: 1) { ${FIELDS} } item: inventoryItem(petId: 1) { ${FIELDS} } }`;
const NAMES = ['pet', 'category', 'order', 'item'] as const;

describe('a row has the same times and version wherever it is read:', () => {
  test.each<[(typeof NAMES)[number], string[]]>([
    [
      'pet',
      [
        `{ pets(filter: { ids: 1 }) { nodes { ${FIELDS} } } }`,
        `{ pets(first: 1) { edges { node { ${FIELDS} } } } }`,
        `{ node(id: "UGV0OjE") { ... on Pet { ${FIELDS} } } }`,
        `{ order(id: 1) { pet { ${FIELDS} } } }`,
        `{ inventory(filter: { petIds: 1 }) { nodes { pet { ${FIELDS} } } } }`,
        `{ categories(filter: { ids: 1 }) { nodes { pets(first: 1) { nodes { ${FIELDS} } } } } }`,
        // Not plain, since the version is selected twice.
        '{ pet(id: 1) { createdAt updatedAt version other: version } }',
        `mutation { updateOrder(id: 1, input: {}) { pet { ${FIELDS} } } }`,
      ],
    ],
    [
      'category',
      [
        `{ pet(id: 1) { category { ${FIELDS} } } }`,
        `{ nodes(ids: ["Q2F0ZWdvcnk6MQ"]) { ... on Category { ${FIELDS} } } }`,
        `mutation { updatePet(id: 1, input: {}) { category { ${FIELDS} } } }`,
      ],
    ],
    [
      'order',
      [
        `{ pet(id: 1) { orders { nodes { ${FIELDS} } } } }`,
        `{ orders(filter: { petIds: 1, ids: 1 }) { nodes { ${FIELDS} } } }`,
      ],
    ],
    ['item', [`{ pet(id: 1) { inventory { ${FIELDS} } } }`, `{ order(id: 1) { pet { inventory { ${FIELDS} } } } }`]],
  ])('%s', async (name, queries) => {
    const { [name]: row } = await data(READ);
    const own = { createdAt: row?.createdAt, updatedAt: row?.updatedAt, version: row?.version };
    expect(own).toEqual({ createdAt: expect.any(String), updatedAt: expect.any(String), version: expect.any(String) });
    for (const query of queries) {
      const text = JSON.stringify(await data(query));
      expect(text).toContain(JSON.stringify(own).slice(1, -1));
    }
  });
});

describe('every write to a row', () => {
  const PET = 'mutation { it: updatePet(id: 1, input: { name: "Rexi" })';
  test.each<[string, (typeof NAMES)[number], string]>([
    ['an update', 'pet', PET],
    ['an update that leaves the values as they are', 'pet', 'mutation { it: updatePet(id: 1, input: { name: "Rex" })'],
    ['an update without fields', 'pet', 'mutation { it: updatePet(id: 1, input: {})'],
    ['an update', 'category', 'mutation { it: updateCategory(id: 1, input: { description: null })'],
    ['an update without fields', 'category', 'mutation { it: updateCategory(id: 1, input: {})'],
    ['an update', 'order', 'mutation { it: updateOrder(id: 1, input: { complete: true })'],
    ['an update without fields', 'order', 'mutation { it: updateOrder(id: 1, input: {})'],
    ['setting the stock', 'item', 'mutation { it: setInventory(petId: 1, input: { quantity: 3 })'],
    ['adjusting the stock', 'item', 'mutation { it: adjustInventory(petId: 1, by: 1)'],
  ])('moves its version and updatedAt, and the response has both: %s of the %s', async (_what, name, mutation) => {
    const { [name]: before } = await data(READ);
    const { it } = await data(`${mutation} { ${FIELDS} } }`);
    const { [name]: after } = await data(READ);
    expect(it).toEqual(after);
    expect(after?.version).not.toBe(before?.version);
    expect(after?.createdAt).toBe(before?.createdAt);
    expect(String(after?.updatedAt) >= String(before?.updatedAt)).toBe(true);
    // Without the selected fields, the write moves them too.
    await data(`${mutation} { __typename } }`);
    expect((await data(READ))[name]?.version).not.toBe(after?.version);
  });

  test('moves them even if an order makes it, and leaves the other rows unchanged', async () => {
    const before = await data(READ);
    await data('mutation { placeOrder(input: { petId: 1, quantity: 1 }) { id } }');
    const after = await data(READ);
    expect(NAMES.filter((name) => after[name]?.version !== before[name]?.version)).toEqual(['item']);
  });

  test.each([
    ['pet', `createPet(input: { name: "Mia", categoryId: 1 }) { id ${FIELDS} }`, `pet(id: 4) { id ${FIELDS} }`],
    ['category', `createCategory(input: { name: "Fish" }) { id ${FIELDS} }`, `category(id: 3) { id ${FIELDS} }`],
    ['order', `placeOrder(input: { petId: 1, quantity: 1 }) { id ${FIELDS} }`, `order(id: 2) { id ${FIELDS} }`],
    [
      'inventory entry',
      `setInventory(petId: 2, input: { quantity: 1 }) { petId ${FIELDS} }`,
      `inventoryItem(petId: 2) { petId ${FIELDS} }`,
    ],
  ])('is known from its creation: %s', async (_name, mutation, query) => {
    const began = Date.now();
    const { it } = await data(`mutation { it: ${mutation} }`);
    expect(it).toEqual((await data(`{ it: ${query} }`)).it);
    expect(it?.updatedAt).toBe(it?.createdAt);
    expect(Math.abs(Date.parse(String(it?.createdAt)) - began)).toBeLessThan(60_000);
  });

  test.each([
    ['deletePet(id: 3)', 'pet(id: 3)'],
    ['cancelOrder(id: 1)', 'order(id: 1)'],
    ['removeInventory(petId: 1)', 'inventoryItem(petId: 1)'],
  ])('a deletion returns the last version: %s', async (mutation, query) => {
    const { it } = await data(`{ it: ${query} { ${FIELDS} } }`);
    expect((await data(`mutation { it: ${mutation} { ${FIELDS} } }`)).it).toEqual(it);
  });

  test('moves the version within one microsecond of the clock, and if the clock is set back', async () => {
    await sql("update pets set updated_at = now() + interval '1 day' where id = 1");
    const versions = new Set<unknown>();
    for (let i = 0; i < 20; i++) versions.add((await data(`${PET} { version } }`)).it?.version);
    expect(versions.size).toBe(20);
  });
});

test('rows from before times were recorded have no times, but versions', async () => {
  await sql('alter table pets disable trigger pets_updated_at');
  await sql('update pets set created_at = null, updated_at = null');
  await sql('alter table pets enable trigger pets_updated_at');
  const read = async () => (await data(`{ pet(id: 1) { ${FIELDS} } }`)).pet;
  const before = await read();
  expect(before).toEqual({ createdAt: null, updatedAt: null, version: expect.any(String) });
  await data('mutation { updatePet(id: 1, input: {}) { id } }');
  expect(await read()).toEqual({ createdAt: null, updatedAt: expect.any(String), version: expect.any(String) });
  expect((await read())?.version).not.toBe(before?.version);
});

describe('ifVersion', () => {
  /** The changes of each type, with the query of the version. */
  const CHANGES: [string, string, string][] = [
    ['updatePet', 'updatePet(id: 1, input: { name: "A" }, ifVersion: $v) { id }', 'pet(id: 1)'],
    ['deletePet', 'deletePet(id: 3, ifVersion: $v) { id }', 'pet(id: 3)'],
    ['updateCategory', 'updateCategory(id: 1, input: { name: "A" }, ifVersion: $v) { id }', 'category(id: 1)'],
    ['deleteCategory', 'deleteCategory(id: 3, ifVersion: $v) { id }', 'category(id: 3)'],
    ['updateOrder', 'updateOrder(id: 1, input: { quantity: 1 }, ifVersion: $v) { id }', 'order(id: 1)'],
    ['cancelOrder', 'cancelOrder(id: 1, ifVersion: $v) { id }', 'order(id: 1)'],
    [
      'setInventory',
      'setInventory(petId: 1, input: { quantity: 9 }, ifVersion: $v) { petId }',
      'inventoryItem(petId: 1)',
    ],
    ['removeInventory', 'removeInventory(petId: 1, ifVersion: $v) { petId }', 'inventoryItem(petId: 1)'],
  ];
  const change = async (field: string, version: unknown) => {
    const { data: result, errors } = await gateway.graphql(`mutation ($v: String) { it: ${field} }`, { v: version });
    return errors[0]?.extensions?.code ?? (result.it ? 'done' : 'null');
  };

  test.each(CHANGES)('%s changes only the version that it names', async (_name, field, query) => {
    await data('mutation { createCategory(input: { name: "Empty" }) { id } }');
    const before = await everyRow(gateway.database);
    const version = String((await data(`{ it: ${query} { version } }`)).it?.version);
    const { headers } = await send(gateway, 'GET /pets/1');
    for (const other of ['', '0', 'x', ` ${version}`, `${version}0`, '9'.repeat(5000), headers.etag, '*'])
      expect([other, await change(field, other)]).toEqual([other, 'PRECONDITION_FAILED']);
    expect(await everyRow(gateway.database)).toBe(before);
    expect(await change(field, version)).toBe('done');
    expect(await change(field, version)).toBe(/delete|cancel|remove/.test(field) ? 'NOT_FOUND' : 'PRECONDITION_FAILED');
  });

  test.each(CHANGES)('%s without a version, or with null, is unconditional', async (_name, field) => {
    await data('mutation { createCategory(input: { name: "Empty" }) { id } }');
    expect(await change(field, null)).toBe('done');
  });

  test.each(CHANGES)('%s of an unknown object is not found, with any version', async (_name, field) => {
    expect(await change(field.replace(/d: \d/, 'd: 99'), '1')).toBe('NOT_FOUND');
  });

  test('stock that is not tracked has no version: setting it fails, and removing it finds nothing', async () => {
    expect(await change('setInventory(petId: 2, input: { quantity: 1 }, ifVersion: $v) { petId }', '1')).toBe(
      'PRECONDITION_FAILED',
    );
    expect(await change('removeInventory(petId: 2, ifVersion: $v) { petId }', '1')).toBe('NOT_FOUND');
    expect((await data('{ inventoryItem(petId: 2) { petId } }')).inventoryItem).toBeNull();
  });

  test('of several concurrent changes of one version, exactly one succeeds', async () => {
    const version = (await data('{ it: pet(id: 1) { version } }')).it?.version;
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        change(`updatePet(id: 1, input: { name: "N${i}" }, ifVersion: $v) { id }`, version),
      ),
    );
    expect(answers.sort()).toEqual([...Array.from({ length: 9 }, () => 'PRECONDITION_FAILED'), 'done']);
  });

  test('invalid input is reported before another version', async () => {
    expect(await change('updatePet(id: 1, input: { name: "" }, ifVersion: $v) { id }', '1')).toBe('BAD_USER_INPUT');
  });
});

test('REST has neither times nor versions, and its ETags stay when a write leaves the values as they are', async () => {
  const read = () => send(gateway, 'GET /pets/1');
  const before = await read();
  await send(gateway, 'PATCH /pets/1', { name: 'Rex' });
  const after = await read();
  expect(after.json).toEqual({ id: 1, name: 'Rex', status: 'available', categoryId: 1 });
  expect([after.headers.etag, after.headers['last-modified']]).toEqual([before.headers.etag, undefined]);
});

describe('events', () => {
  let live: Gateway;
  let url: string;
  beforeAll(async () => {
    live = await gateway.another({ ANONYMOUS_ACCESS: 'read' });
    url = await live.listen();
  });
  const open = useSubscribers(() => live);
  afterAll(() => live.close());

  test('have the times and versions of changed and of deleted rows, and of the rows that they refer to', async () => {
    const subscriber = open(socketClient(url));
    const pets = subscriber.subscribe(`subscription { petChanged { pet { ${FIELDS} category { ${FIELDS} } } } }`);
    const stock = subscriber.subscribe(
      `subscription { inventoryChanged { kind item { ${FIELDS} pet { ${FIELDS} } } } }`,
    );
    const orders = subscriber.subscribe(`subscription { orderChanged { order { ${FIELDS} } } }`);
    await until(async () => (await running(live)) === 3);
    const run = async (field: string) =>
      (await live.data<Record<string, Json>>(`mutation { it: ${field} { ${FIELDS} } }`)).it;
    const made = await run('createPet(input: { name: "Mia", categoryId: 1 })');
    const moved = await run('updatePet(id: 4, input: { name: "Mio" })');
    const tracked = await run('setInventory(petId: 4, input: { quantity: 1 })');
    await run('deletePet(id: 4)');
    const cancelled = await run('cancelOrder(id: 1)');
    const petEvents = (await pets.until(3)).map(({ data: event }) => event?.petChanged?.pet);
    // The first event may already have the state after the second change.
    expect([made, moved].map((row) => row?.version)).toContain(petEvents[0]?.version);
    expect(petEvents.slice(1)).toEqual(
      [moved, moved].map((row) => ({ ...row, category: expect.objectContaining({ version: expect.any(String) }) })),
    );
    // The event of the creation may be left out, since the pet has been deleted.
    const deletion = () => stock.answers.find(({ data: event }) => String(event?.inventoryChanged?.kind) === 'DELETED');
    await until(() => deletion() !== undefined);
    expect(deletion()?.data?.inventoryChanged?.item).toEqual({ ...tracked, pet: moved });
    expect((await orders.until(1))[0]?.data?.orderChanged?.order).toEqual(cancelled);
  });

  test('of deletions by an instance of the previous version have an empty version', async () => {
    const pets = open(socketClient(url)).subscribe(
      'subscription { petChanged(filter: { ids: 99 }) { pet { id createdAt version } } }',
    );
    await until(async () => (await running(live)) === 1);
    const before = { id: 99n, name: 'Old', status: 'sold', categoryId: 1n };
    gateway.database.notifyListeners({ topic: 'pet', kind: 'DELETED', id: 99n, before });
    const [event] = await pets.until(1);
    expect(event?.data?.petChanged?.pet).toEqual({ id: '99', createdAt: null, version: '' });
  });
});
