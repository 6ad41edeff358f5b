import { Run } from '../../../src/graphql/run';
import { fillShop } from '../../helper/database';
import { type Gateway, startGateway } from '../../helper/gateway';
import { type Received, running, type Subscriber, socketClient, streamClient } from '../../helper/live';
import { StatementLog } from '../../helper/statements';
import { until } from '../../helper/until';

let gateway: Gateway;
let url: string;
const clients: Subscriber[] = [];
beforeAll(async () => {
  gateway = await startGateway({ ANONYMOUS_ACCESS: 'write', MAX_SUBSCRIPTIONS_PER_CALLER: '1000' });
  url = await gateway.listen();
  await fillShop(gateway.database);
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await until(async () => (await running(gateway)) === 0);
});
afterAll(async () => {
  gateway.server.server.closeAllConnections();
  await gateway.close();
});

function client(open = socketClient(url)): Subscriber {
  clients.push(open);
  return open;
}

/** Subscribes to all of these, changes a pet, and returns the answers and the statements that they took. */
async function statementsFor(subscribers: readonly (() => Received)[]) {
  const received = subscribers.map((subscribe) => subscribe());
  await until(async () => (await running(gateway)) === received.length);
  const log = StatementLog.of(gateway.database);
  gateway.database.changed({ topic: 'pet', kind: 'UPDATED', id: 1n });
  const answers = await Promise.all(received.map(async (each) => (await each.until(1))[0]));
  log.stop();
  return { answers, statements: log.ofShop };
}

const REX = { name: 'Rex', category: { name: 'Dogs' }, inventory: { quantity: 3 } };
const ROW = 'pet { name category { name } inventory { quantity } }';

beforeAll(async () => {
  await gateway.data('mutation { setInventory(petId: 1, input: { quantity: 3 }) { quantity } }');
});

test('20 subscribers with the same selection: a change takes the work of one', async () => {
  const own = client();
  // Another caller, over another transport, that may do the same.
  const others = client(streamClient(url, (await gateway.createKey()).headers));
  const runs = jest.spyOn(Run.prototype, 'execute');
  const query = `subscription ($filter: PetChangeFilter) { petChanged(filter: $filter) { ${ROW} } }`;
  const { answers, statements } = await statementsFor(
    Array.from({ length: 20 }, (_, i) => () => (i % 2 ? own : others).subscribe(query, { filter: { ids: ['1'] } })),
  );
  expect(answers).toEqual(Array.from({ length: 20 }, () => ({ data: { petChanged: { pet: REX } } })));
  expect(statements).toHaveLength(3);
  expect(runs).toHaveBeenCalledTimes(1);
  runs.mockRestore();
});

test('20 subscribers whose selections all differ: each related row is still read once', async () => {
  const own = client();
  const aliases = Array.from({ length: 20 }, (_, i) => `c${i}: category { id name } i${i}: inventory { quantity }`);
  const { answers, statements } = await statementsFor(
    Array.from(
      { length: 20 },
      (_, i) => () =>
        own.subscribe(
          `subscription S${i} { petChanged { pet { a${i}: name ${aliases.join(' ')} category { name } } } }`,
        ),
    ),
  );
  expect(answers[7]?.data?.petChanged?.pet).toMatchObject({ a7: 'Rex', c19: { id: '1', name: 'Dogs' } });
  expect(statements).toHaveLength(3);
});

test('relations back and forth read no row twice', async () => {
  const deep = 'inventory { pet { category { name } inventory { pet { name inventory { quantity } } } } }';
  const own = client();
  const { answers, statements } = await statementsFor([
    () => own.subscribe(`subscription { petChanged { pet { ${deep} } } }`),
    () => own.subscribe(`subscription { petChanged { pet { category { id } ${deep} } } }`),
  ]);
  const pet = { category: { name: 'Dogs' }, inventory: { pet: { name: 'Rex', inventory: { quantity: 3 } } } };
  expect(answers[0]).toEqual({ data: { petChanged: { pet: { inventory: { pet } } } } });
  // The pet of the change, its stock, and the pet and the category as relations.
  expect(statements).toHaveLength(4);
});

test('subscribers with other variables have answers of their own', async () => {
  const own = client();
  const query = 'subscription ($isNamed: Boolean!) { petChanged { pet { id name @include(if: $isNamed) } } }';
  const { answers } = await statementsFor(
    [true, false, true].map((isNamed) => () => own.subscribe(query, { isNamed })),
  );
  expect(answers.map((answer) => answer?.data?.petChanged?.pet)).toEqual([
    { id: '1', name: 'Rex' },
    { id: '1' },
    { id: '1', name: 'Rex' },
  ]);
});

test('every change is answered with its own rows', async () => {
  const received = client().subscribe(`subscription { petChanged { ${ROW} } }`);
  await until(async () => (await running(gateway)) === 1);
  for (const name of ['Max', 'Rex']) {
    const before = received.answers.length;
    await gateway.data('mutation ($name: String!) { updateCategory(id: 1, input: { name: $name }) { id } }', { name });
    await gateway.data('mutation ($name: String!) { updatePet(id: 1, input: { name: $name }) { id } }', { name });
    expect((await received.until(before + 1)).at(-1)?.data?.petChanged?.pet).toMatchObject({
      name,
      category: { name },
    });
  }
});

test('an error that subscribers share carries the request id of each', async () => {
  const own = client();
  const received = Array.from({ length: 2 }, () => own.subscribe(`subscription { petChanged { ${ROW} } }`));
  await until(async () => (await running(gateway)) === 2);
  const before = { id: 9n, name: 'Old', status: 'sold', categoryId: 99n } as const;
  gateway.database.changed({ topic: 'pet', kind: 'DELETED', id: 9n, before });
  const answers = await Promise.all(received.map(async (each) => (await each.until(1))[0]));
  const ids = answers.map((answer) => {
    const [error] = (answer?.errors ?? []) as unknown as { extensions: { code: string; requestId: string } }[];
    expect(error?.extensions.code).toBe('NOT_FOUND');
    return error?.extensions.requestId;
  });
  expect(new Set(ids).size).toBe(2);
});
