import { getIntrospectionQuery } from 'graphql';
import { fillShop } from '../../helper/database';
import { type Gateway, startGateway } from '../../helper/gateway';
import { type Received, running, socketClient, streamClient, useSubscribers } from '../../helper/live';
import { until } from '../../helper/until';
import { ask } from '../client';

let gateway: Gateway;
let url: string;
beforeAll(async () => {
  gateway = await startGateway({});
  url = await gateway.listen();
});
beforeEach(() => fillShop(gateway.database));
afterAll(() => gateway.close());

const open = useSubscribers(() => gateway);

async function time(run: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await run();
  return performance.now() - started;
}

describe('free operations of one caller', () => {
  const different = (n: number) => `${getIntrospectionQuery()} # ${n} ${Math.random()}`;
  /** Each has an estimated cost of about 5,000. */
  const queries = () => Array.from({ length: 5 }, (_, n) => different(n));

  test.each<[string, (headers: Record<string, string>) => Promise<unknown>]>([
    ['GraphQL', (headers) => Promise.all(queries().map((query) => ask(gateway, query, { headers })))],
    [
      'WebSocket',
      (headers) => {
        const client = open(socketClient(url, headers));
        return Promise.all(queries().map((query) => client.subscribe(query).untilOver()));
      },
    ],
    [
      'event streams',
      (headers) => {
        const client = open(streamClient(url, headers));
        return Promise.all(queries().map((query) => client.subscribe(query).untilOver()));
      },
    ],
  ])('are limited to an estimated cost of 10,000 per second over %s, and delay no other caller', async (_over, run) => {
    const [greedy, other] = [await gateway.createKey(), await gateway.createKey()];
    await ask(gateway, 'GET /pets', { headers: other.headers });
    const asked = time(() => run(greedy.headers));
    const others = await time(async () => {
      for (let i = 0; i < 10; i++)
        await ask(gateway, '{ viewer { plan } pets { totalCount } }', { headers: other.headers });
    });
    expect(others).toBeLessThan(1_500);
    expect(await asked).toBeGreaterThan(1_000);
  });

  test('a known introspection document is answered from memory, with the same answer', async () => {
    const { headers } = await gateway.createKey();
    const query = getIntrospectionQuery();
    const first = await ask(gateway, query, { headers });
    const answers = await Promise.all(Array.from({ length: 30 }, () => ask(gateway, query, { headers })));
    for (const { status, json } of answers) expect([status, json.data]).toEqual([200, first.json.data]);
    expect(await time(() => ask(gateway, query, { headers }))).toBeLessThan(1_000);
    const client = open(socketClient(url, headers));
    const { answers: over } = await client.subscribe(query).untilOver();
    expect(over[0]?.data).toEqual(first.json.data);
  });

  test('an introspection document with variables is answered for its variables', async () => {
    const query =
      'query ($name: String!, $all: Boolean!) { __type(name: $name) { name fields(includeDeprecated: $all) { name } } }';
    for (const name of ['Pet', 'Order', 'Pet']) {
      const { json } = await ask(gateway, query, { variables: { name, all: true } });
      expect(json.data?.__type?.name).toBe(name);
    }
  });
});

describe('events for a greedy caller', () => {
  const document = (n: number) =>
    `subscription { petChanged { petId pet { ${Array.from({ length: 110 }, (_, i) => `g${n}x${i}: name`).join(' ')} } } }`;
  const SUBSCRIPTIONS = 40;
  const EVENTS = 5;
  const PETS = 'mutation ($pet: NewPet!) { ';
  const pet = { name: 'Rex', categoryId: 1 };
  const create = (count: number) =>
    gateway.data(
      `${PETS}${Array.from({ length: count }, (_, i) => `p${i}: createPet(input: $pet) { id }`).join(' ')} }`,
      {
        pet,
      },
    );

  async function subscribe(): Promise<{ greedy: Received[]; other: Received }> {
    const [mine, theirs] = [await gateway.createKey(), await gateway.createKey()];
    const client = open(socketClient(url, mine.headers));
    const greedy = Array.from({ length: SUBSCRIPTIONS }, (_, n) => client.subscribe(document(n)));
    const other = open(socketClient(url, theirs.headers)).subscribe('subscription { petChanged { kind petId } }');
    await until(async () => (await running(gateway)) === SUBSCRIPTIONS + 1);
    return { greedy, other };
  }

  test('come ever later, while writers and other subscribers do not wait', async () => {
    const { greedy, other } = await subscribe();
    const received = () => greedy.reduce((sum, { answers }) => sum + answers.length, 0);
    const started = performance.now();
    for (let i = 1; i <= EVENTS; i++) {
      expect(await time(() => create(1))).toBeLessThan(1_000);
      await other.until(i);
    }
    expect(received()).toBeLessThan(EVENTS * SUBSCRIPTIONS * 0.9);
    await until(async () => received() === EVENTS * SUBSCRIPTIONS, 30);
    // The events cost about 5 × 40 × 115.
    expect(performance.now() - started).toBeGreaterThan(1_000);
  }, 60_000);

  test('share one allowance on several sockets and event streams, while writers and others do not wait', async () => {
    const [mine, theirs] = [await gateway.createKey(), await gateway.createKey()];
    const document = (n: number) =>
      `subscription { orderChanged { orderId order { ${Array.from({ length: 110 }, (_, i) => `g${n}x${i}: quantity`).join(' ')} } } }`;
    const connections = [
      ...[socketClient(url, mine.headers), socketClient(url, mine.headers)].map((client) => [client, 20] as const),
      [streamClient(url, mine.headers), 15] as const,
    ];
    let documents = 0;
    const greedy = connections.flatMap(([client, count]) => {
      open(client);
      return Array.from({ length: count }, () => client.subscribe(document(documents++)));
    });
    const other = open(socketClient(url, theirs.headers)).subscribe('subscription { orderChanged { kind orderId } }');
    await until(async () => (await running(gateway)) === greedy.length + 1);
    const place = () =>
      ask(gateway, 'mutation { placeOrder(input: { petId: 2, quantity: 1 }) { id } }', { headers: theirs.headers });
    const placed: unknown[] = [];
    const received = () => greedy.reduce((sum, { answers }) => sum + answers.length, 0);
    const started = performance.now();
    for (let i = 1; i <= EVENTS; i++) {
      expect(await time(async () => placed.push((await place()).json.data?.placeOrder?.id))).toBeLessThan(1_000);
      await other.until(i);
    }
    expect(other.said).toEqual(placed.map((id) => `CREATED ${id}`));
    expect(received()).toBeLessThan(EVENTS * greedy.length * 0.9);
    await until(async () => received() === EVENTS * greedy.length, 30);
    // The events cost about 5 × 55 × 115, beyond an allowance of 10,000 a second.
    expect(performance.now() - started).toBeGreaterThan(1_500);
  }, 60_000);

  test('end with SERVICE_UNAVAILABLE if too many wait, and other subscribers get all of theirs', async () => {
    const { greedy, other } = await subscribe();
    for (let i = 0; i < 4; i++) await create(100);
    await other.until(400);
    await Promise.all(greedy.map((each) => each.untilOver()));
    for (const { answers } of greedy)
      expect(answers.at(-1)).toMatchObject({ errors: [{ extensions: { code: 'SERVICE_UNAVAILABLE' } }] });
    expect(other.answers).toHaveLength(400);
    expect(new Set(other.said).size).toBe(400);
  }, 60_000);
});
