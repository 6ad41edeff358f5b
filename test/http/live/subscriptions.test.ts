import { statement } from '../../../src/database/statement';
import { fillShop } from '../../helper/database';
import { ADMIN_KEY, type Gateway, startGateway } from '../../helper/gateway';
import { type Received, running, type Subscriber, socketClient, streamClient, useSubscribers } from '../../helper/live';
import { StatementLog } from '../../helper/statements';
import { until } from '../../helper/until';

let gateway: Gateway;
let url: string;
beforeAll(async () => {
  gateway = await startGateway();
  url = await gateway.listen();
});
beforeEach(() => fillShop(gateway.database));
afterAll(() => gateway.close());

const key = { 'x-api-key': ADMIN_KEY };
const keep = useSubscribers(() => gateway);
const open = (client = socketClient(url, key)) => keep(client);

/** Subscribes, and waits until the subscription is running. */
async function subscribe(client: Subscriber, query: string, variables?: Record<string, unknown>): Promise<Received> {
  const before = await running(gateway);
  const received = client.subscribe(query, variables);
  await until(async () => (await running(gateway)) > before);
  return received;
}

const mutate = (...fields: string[]) => gateway.data(`mutation { ${fields.map((f, i) => `m${i}: ${f}`).join(' ')} }`);
const change = () => gateway.database.notifyListeners({ topic: 'pet', kind: 'UPDATED', id: 1n });

const PETS =
  'subscription ($filter: PetChangeFilter) { petChanged(filter: $filter) { kind petId pet { name status category { name } } } }';
const ORDERS =
  'subscription ($filter: OrderChangeFilter) { orderChanged(filter: $filter) { kind orderId order { quantity pet { name } } } }';
const STOCK =
  'subscription ($filter: InventoryChangeFilter) { inventoryChanged(filter: $filter) { kind petId item { quantity status pet { name } } } }';

describe.each([
  ['graphql-ws', () => open()],
  ['graphql-sse', () => open(streamClient(url, key))],
])('over %s', (_name, client) => {
  test('pets are reported as they are created, changed and deleted', async () => {
    const received = await subscribe(client(), PETS);
    await mutate('createPet(input: { name: "Luna", categoryId: 1 }) { id }');
    await received.until(1);
    await gateway.app.inject({ method: 'PATCH', url: '/pets/4', payload: { status: 'sold' } });
    await received.until(2);
    await mutate('deletePet(id: 4) { id }');
    const pet = { name: 'Luna', category: { name: 'Dogs' } };
    expect(await received.until(3)).toEqual([
      { data: { petChanged: { kind: 'CREATED', petId: '4', pet: { ...pet, status: 'available' } } } },
      { data: { petChanged: { kind: 'UPDATED', petId: '4', pet: { ...pet, status: 'sold' } } } },
      { data: { petChanged: { kind: 'DELETED', petId: '4', pet: { ...pet, status: 'sold' } } } },
    ]);
  });

  test('a change of stock whose pet is deleted at once causes no error, and the deletion is reported', async () => {
    const received = await subscribe(client(), STOCK);
    await mutate('setInventory(petId: 3, input: { quantity: 5 }) { petId }', 'deletePet(id: 3) { id }');
    await mutate('setInventory(petId: 1, input: { quantity: 5 }) { petId }');
    const event = (kind: string) =>
      received.answers.find(({ data }) => String(data?.inventoryChanged?.kind) === kind)?.data?.inventoryChanged;
    await until(() => event('UPDATED') !== undefined);
    expect(event('UPDATED')).toMatchObject({ petId: '1', item: { quantity: 5, pet: { name: 'Rex' } } });
    expect(event('DELETED')).toMatchObject({ petId: '3', item: { quantity: 5, pet: { name: 'Tom' } } });
    // Whether the creation is reported depends on when its rows are read.
    expect(received.answers.filter(({ errors }) => errors)).toEqual([]);
  });

  test('changes of orders and of the stock are reported', async () => {
    const orders = await subscribe(client(), ORDERS);
    const stock = await subscribe(client(), STOCK);
    for (const [i, mutation] of [
      'setInventory(petId: 1, input: { quantity: 5 }) { quantity }',
      'placeOrder(input: { petId: 1, quantity: 2 }) { id }',
      'updateOrder(id: 2, input: { quantity: 3 }) { id }',
      'cancelOrder(id: 2) { id }',
    ].entries()) {
      await mutate(mutation);
      await stock.until(i + 1);
    }
    expect(stock.answers.map(({ data }) => data?.inventoryChanged?.item?.quantity)).toEqual([5, 3, 2, 5]);
    expect((await orders.until(3)).map(({ data }) => data?.orderChanged)).toEqual([
      { kind: 'CREATED', orderId: '2', order: { quantity: 2, pet: { name: 'Rex' } } },
      { kind: 'UPDATED', orderId: '2', order: { quantity: 3, pet: { name: 'Rex' } } },
      { kind: 'DELETED', orderId: '2', order: { quantity: 3, pet: { name: 'Rex' } } },
    ]);
  });

  test('a query and a mutation get one response each, and errors are reported', async () => {
    const live = client();
    const query = await live.subscribe('{ pet(id: 1) { name } }').untilOver();
    expect(query.answers).toMatchObject([{ data: { pet: { name: 'Rex' } }, extensions: { cost: { operation: 1 } } }]);
    const mutation = await live.subscribe('mutation { updatePet(id: 99, input: { name: "a" }) { id } }').untilOver();
    expect(mutation.answers).toMatchObject([{ errors: [{ extensions: { code: 'NOT_FOUND' } }] }]);
  });
});

test('a subscription cannot select pages or counts, and the cost of an event is limited', async () => {
  const client = open();
  const paged = 'subscription ($n: Int) { petChanged { kind pet { name orders(first: $n) { totalCount } } } }';
  expect((await client.subscribe(paged, { n: 1 }).untilOver()).error).toMatchObject([
    {
      message:
        'An event of a subscription can contain single related objects, but no pages or counts. Remove Pet.orders.',
      extensions: { code: 'OPERATION_TOO_COMPLEX', status: 400 },
    },
  ]);
  const belongings = (count: number) => {
    const categories = Array.from({ length: count }, (_, i) => `c${i}: category { id name description }`);
    return `subscription { petChanged { pet { name ${categories.join(' ')} } } }`;
  };
  expect((await client.subscribe(belongings(18)).untilOver()).error).toMatchObject([
    {
      message:
        'An event of the subscription has an estimated cost of 257; at most 250 is allowed. Most expensive parts: Category.description 180, statements for related rows 20, Pet.category 18. Request less of these.',
      extensions: { code: 'OPERATION_TOO_COMPLEX', status: 400 },
    },
  ]);
  const received = await subscribe(client, belongings(17));
  await gateway.data('mutation { updatePet(id: 1, input: { name: "Max" }) { id } }');
  expect((await received.until(1))[0]?.data).toMatchObject({ petChanged: { pet: { name: 'Max' } } });
});

test('a mutation over an event stream runs once per idempotency key', async () => {
  const headers = { ...key, 'idempotency-key': 'streamed' };
  const client = open(streamClient(url, headers));
  const create = 'mutation { createCategory(input: { name: "Fish" }) { id } }';
  const [first, second] = [await client.subscribe(create).untilOver(), await client.subscribe(create).untilOver()];
  expect(second.answers[0]?.data).toEqual(first.answers[0]?.data);
  expect(await gateway.data('{ categories { totalCount } }')).toEqual({ categories: { totalCount: 3 } });
});

test('the event of a deletion contains the last state of the row, even if its category is deleted too', async () => {
  const client = open();
  const belongings = 'pet { name category { name } }';
  const stock = await subscribe(client, `subscription { inventoryChanged { kind item { quantity ${belongings} } } }`);
  const pets = await subscribe(client, `subscription { petChanged { kind ${belongings} } }`);
  await gateway.data(`mutation {
    updatePet(id: 3, input: { categoryId: 1 }) { id }
    createPet(input: { name: "Luna", categoryId: 2 }) { id }
    setInventory(petId: 4, input: { quantity: 7 }) { quantity }
    removeInventory(petId: 4) { quantity }
    deletePet(id: 4) { id }
    deleteCategory(id: 2) { id }
  }`);
  const deleted = (received: Received) =>
    until(async () => received.answers.some(({ data }) => JSON.stringify(data).includes('DELETED')));
  await Promise.all([deleted(stock), deleted(pets)]);
  const pet = { name: 'Luna', category: { name: 'Cats' } };
  expect(stock.answers.at(-1)).toEqual({
    data: { inventoryChanged: { kind: 'DELETED', item: { quantity: 7, pet } } },
  });
  expect(pets.answers.at(-1)).toEqual({ data: { petChanged: { kind: 'DELETED', pet } } });
});

test('a filter passes an event if and only if the row matches before or after the change', async () => {
  const client = open();
  const of = (query: string, filter: object) => subscribe(client, query, { filter });
  const available = await of(PETS, { statuses: ['available'] });
  const second = await of(PETS, { ids: ['2'] });
  const cats = await of(PETS, { categoryIds: [2], statuses: ['sold'] });
  const none = await of(PETS, { ids: [] });
  const all = await subscribe(client, PETS);
  const low = await of(STOCK, { maxQuantity: 1 });
  const stockOfSold = await of(STOCK, { statuses: ['sold'], petIds: [1, 2] });
  const allStock = await subscribe(client, STOCK);
  const complete = await of(ORDERS, { complete: true });
  const ofSecond = await of(ORDERS, { petIds: [2] });
  const change = async (...mutations: string[]) => {
    for (const mutation of mutations) {
      const told = mutation.includes('Pet(') ? all : mutation.includes('Inventory(') ? allStock : undefined;
      const length = told?.answers.length ?? 0;
      await gateway.data(`mutation { ${mutation} { __typename } }`);
      await told?.until(length + 1);
    }
  };
  await gateway.data('mutation { updatePet(id: 2, input: { status: pending, categoryId: 2 }) { id } }');
  await all.until(1);
  const before = [available.answers.length, second.answers.length];
  await change(
    'updatePet(id: 1, input: { status: pending })',
    'updatePet(id: 1, input: { status: sold })',
    'updatePet(id: 2, input: { status: sold })',
    'updatePet(id: 2, input: { categoryId: 1 })',
    'updatePet(id: 2, input: { name: "Other" })',
    'setInventory(petId: 1, input: { quantity: 2 })',
    'setInventory(petId: 1, input: { quantity: 1 })',
    'removeInventory(petId: 1)',
    'placeOrder(input: { petId: 1, complete: true })',
    'placeOrder(input: { petId: 2 })',
    'updatePet(id: 1, input: { name: "Last" })',
  );
  await allStock.until(3);
  await until(async () => ofSecond.answers.length > 0);
  expect(all.answers).toHaveLength(7);
  expect(available.said.slice(before[0])).toEqual(['UPDATED 1']);
  expect(second.said.slice(before[1])).toEqual(['UPDATED 2', 'UPDATED 2', 'UPDATED 2']);
  expect(cats.said).toEqual(['UPDATED 2', 'UPDATED 2']);
  expect(none.said).toEqual([]);
  expect(low.said).toEqual(['UPDATED 1', 'DELETED 1']);
  expect(stockOfSold.said).toEqual(allStock.said);
  expect(complete.said).toHaveLength(1);
  expect(ofSecond.said).toHaveLength(1);
});

describe('no event is sent', () => {
  let received: Received;
  beforeEach(async () => {
    received = await subscribe(open(), PETS);
  });
  /** Publishes a last event and waits for it. All earlier events have then arrived. @returns the earlier events. */
  async function mark(): Promise<string[]> {
    await gateway.data('mutation { updatePet(id: 2, input: { name: "Mark" }) { id } }');
    await until(async () => received.said.at(-1) === 'UPDATED 2');
    return received.said.slice(0, -1);
  }
  const keyed = (query: string, idempotencyKey: string) =>
    gateway.graphql(query, undefined, { 'idempotency-key': idempotencyKey });

  test('for a rejected change', async () => {
    await gateway.graphql('mutation { updatePet(id: 1, input: { categoryId: 99 }) { id } }');
    await gateway.graphql('mutation { deletePet(id: 99) { id } }');
    expect(await mark()).toEqual([]);
  });

  test('for a change that is rolled back', async () => {
    await gateway.database
      .serviceSession()
      .transaction(async (session) => {
        session.publishOnCommit({ topic: 'pet', kind: 'UPDATED', id: 1n });
        await session.query(statement("update pets set name = 'Undone' where id = 1"), []);
        throw new Error('undone');
      })
      .catch(() => undefined);
    await gateway.database
      .serviceSession()
      .transaction((session) =>
        session.transaction(async (inner) => inner.publishOnCommit({ topic: 'pet', kind: 'CREATED', id: 1n })),
      );
    expect(await mark()).toEqual(['CREATED 1']);
  });

  test('for a rejected change with an idempotency key, or for a replay', async () => {
    const { errors } = await keyed('mutation { updatePet(id: 1, input: { categoryId: 99 }) { id } }', 'rejected');
    expect(errors).toHaveLength(1);
    for (let i = 0; i < 2; i++) await keyed('mutation { updatePet(id: 1, input: { name: "A" }) { id } }', 'made');
    expect(await mark()).toEqual(['UPDATED 1']);
  });

  test('for a change with an idempotency key if the response is too large to store', async () => {
    const pets = Array.from({ length: 1200 }, (_, i) => `f${i}: name`).join(' ');
    const name = '🐕'.repeat(255);
    const { errors } = await keyed(`mutation { updatePet(id: 1, input: { name: "${name}" }) { ${pets} } }`, 'large');
    expect(errors[0]?.extensions?.code).toBe('OPERATION_TOO_COMPLEX');
    expect(await mark()).toEqual([]);
  });

  test('before a change is committed', async () => {
    await gateway.database.serviceSession().transaction(async (session) => {
      await session.query(statement("update pets set name = 'Later' where id = 1"), []);
      session.publishOnCommit({ topic: 'pet', kind: 'UPDATED', id: 1n });
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(received.answers).toEqual([]);
    });
    const [event] = await received.until(1);
    expect(event?.data?.petChanged?.pet).toMatchObject({ name: 'Later' });
  });
});

describe('subscribers of one event', () => {
  const REX = { name: 'Rex', category: { name: 'Dogs' }, inventory: { quantity: 3 } };
  const ROW = 'pet { name category { name } inventory { quantity } }';
  const aliases = Array.from({ length: 20 }, (_, i) => `c${i}: category { id name } i${i}: inventory { quantity }`);
  const deep = 'inventory { pet { category { name } inventory { pet { name inventory { quantity } } } } }';
  const same = Array.from({ length: 20 }, () => `subscription { petChanged(filter: { ids: ["1"] }) { ${ROW} } }`);
  const other = Array.from(
    { length: 20 },
    (_, i) => `subscription S${i} { petChanged { pet { a${i}: name ${aliases.join(' ')} category { name } } } }`,
  );
  const related = ['', 'category { id }'].map((more) => `subscription { petChanged { pet { ${more} ${deep} } } }`);
  const deepRex = { inventory: { pet: { category: { name: 'Dogs' }, inventory: { pet: { name: 'Rex' } } } } };

  test.each<[name: string, queries: string[], statements: number, pet: object]>([
    ['with the same selection cause no more reads than a single subscriber', same, 3, REX],
    ['with different selections read each related row once', other, 3, { c19: { id: '1', name: 'Dogs' } }],
    ['with cyclic selections read no row twice', related, 4, deepRex],
  ])('%s', async (_name, queries, statements, pet) => {
    // Two subscribers with different keys and transports.
    const { headers } = await gateway.createKey();
    const own = [open(), open(streamClient(url, headers))];
    const received = queries.map((query, i) => (own[i % 2] as Subscriber).subscribe(query));
    await until(async () => (await running(gateway)) === received.length);
    const log = StatementLog.of(gateway.database);
    change();
    const answers = await Promise.all(received.map(async (each) => (await each.until(1))[0]));
    log.stop();
    for (const answer of answers) expect(answer).toMatchObject({ data: { petChanged: { pet } } });
    expect(log.ofShop).toHaveLength(statements);
  });

  test('with different variables get different responses', async () => {
    const client = open();
    const query = 'subscription ($isNamed: Boolean!) { petChanged { pet { id name @include(if: $isNamed) } } }';
    const received = [true, false].map((isNamed) => client.subscribe(query, { isNamed }));
    await until(async () => (await running(gateway)) === 2);
    change();
    const [named, other] = await Promise.all(received.map(async (each) => (await each.until(1))[0]?.data));
    expect(named).toEqual({ petChanged: { pet: { id: '1', name: 'Rex' } } });
    expect(other).toEqual({ petChanged: { pet: { id: '1' } } });
  });

  test('get the same error, each with a separate request id', async () => {
    const client = open();
    const received = Array.from({ length: 2 }, () => client.subscribe(`subscription { petChanged { ${ROW} } }`));
    await until(async () => (await running(gateway)) === 2);
    // The category of the row does not exist, so reading the selection fails.
    const before = { id: 9n, name: 'Old', status: 'sold', categoryId: 99n } as const;
    gateway.database.notifyListeners({ topic: 'pet', kind: 'DELETED', id: 9n, before });
    const ids = new Set<unknown>();
    for (const each of received) {
      const [answer] = await each.until(1);
      expect(answer).toMatchObject({ errors: [{ extensions: { code: 'NOT_FOUND' } }] });
      ids.add(answer?.errors?.map(({ extensions }) => extensions?.requestId)[0]);
    }
    expect(ids.size).toBe(2);
  });

  test('receive the current rows with each event', async () => {
    const received = await subscribe(open(), `subscription { petChanged { ${ROW} } }`);
    for (const [i, name] of ['Max', 'Rex'].entries()) {
      await mutate(
        `updateCategory(id: 1, input: { name: "${name}" }) { id }`,
        `updatePet(id: 1, input: { name: "${name}" }) { id }`,
      );
      const pet = { name, category: { name } };
      expect((await received.until(i + 1)).at(-1)).toMatchObject({ data: { petChanged: { pet } } });
    }
  });
});
