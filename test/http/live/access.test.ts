import { setTimeout as sleep } from 'node:timers/promises';
import { ADMIN_KEY, type Gateway, startGateway } from '../../helper/gateway';
import { running, type Subscriber, socketClient, streamClient, useSubscribers } from '../../helper/live';
import { watchLookUps } from '../../helper/look-ups';
import { until } from '../../helper/until';

const SUBSCRIPTION = 'subscription { petChanged { kind petId } }';

let gateway: Gateway;
let url: string;
beforeAll(async () => {
  gateway = await startGateway({
    ANONYMOUS_ACCESS: 'none',
    MAX_SUBSCRIPTIONS_PER_CALLER: '3',
    BAN_AFTER: '1000',
  });
  url = await gateway.listen();
});
afterAll(() => gateway.close());

const open = useSubscribers(() => gateway);
const remaining = async (headers: Record<string, string>) => {
  const { headers: told } = await gateway.server.inject({ url: '/rate_limit', headers });
  return Number(told['x-ratelimit-remaining']);
};
const codeOf = (error: unknown) =>
  (error as { extensions: { code: string } }[])[0]?.extensions?.code ?? (error as { code?: number }).code;

describe('a subscription counts as one request, and its events use no quota', () => {
  test.each([
    ['graphql-ws', (headers: Record<string, string>) => socketClient(url, headers)],
    ['graphql-sse', (headers: Record<string, string>) => streamClient(url, headers)],
  ])('%s', async (_name, connect) => {
    const { headers } = await gateway.createKey();
    const received = open(connect(headers)).subscribe(SUBSCRIPTION);
    await until(async () => (await running(gateway)) === 1);
    await gateway.data('mutation { createCategory(input: { name: "Dogs" }) { id } }');
    for (let i = 0; i < 3; i++)
      await gateway.data('mutation { createPet(input: { name: "Rex", categoryId: 1 }) { id } }');
    await received.until(3);
    expect(await remaining(headers)).toBe(59);
  });
});

test('a caller with an exhausted quota is rejected over each protocol; over HTTP the response has Retry-After', async () => {
  const { headers } = await gateway.createKey({ plan: 'ENTERPRISE', perMinute: 1, perDay: 1 });
  await gateway.app.inject({ url: '/pets', headers });
  const { error } = await open(socketClient(url, headers)).subscribe(SUBSCRIPTION).untilOver();
  expect(codeOf(error)).toBe('RATE_LIMITED');
  const response = await fetch(`${url}/graphql/stream`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ query: SUBSCRIPTION }),
  });
  expect(response.status).toBe(429);
  expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(50);
  expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'RATE_LIMITED' } }] });
});

test('a banned key cannot open a WebSocket', async () => {
  const { headers } = await gateway.createKey({ plan: 'ENTERPRISE', perMinute: 1, perDay: 1 });
  const strict = await gateway.another({ BAN_AFTER: '1' });
  const banned = socketClient(await strict.listen(), undefined, headers);
  for (const status of [200, 429]) expect((await strict.app.inject({ url: '/pets', headers })).statusCode).toBe(status);
  expect((await open(banned).subscribe('{ __typename }').untilOver()).error).toMatchObject({ message: /429/ });
  await strict.close();
});

test('an operation without a key or the required scope is rejected over each protocol, and charged', async () => {
  const over = await open(socketClient(url)).subscribe(SUBSCRIPTION).untilOver();
  expect(codeOf(over.error)).toBe('UNAUTHENTICATED');
  const stream = await open(streamClient(url)).subscribe(SUBSCRIPTION).untilOver();
  expect(stream.error).toMatchObject({ response: { status: 401 } });
  const { headers } = await gateway.createKey({ scopes: ['READ'] });
  const write = await open(socketClient(url, headers))
    .subscribe('mutation { createCategory(input: { name: "a" }) { id } }')
    .untilOver();
  expect(codeOf(write.error)).toBe('FORBIDDEN');
  expect(await remaining(headers)).toBe(59);
});

test('documents over WebSocket have the same limits as over HTTP; invalid documents are reported and charged', async () => {
  const { headers } = await gateway.createKey();
  const client = open(socketClient(url, headers));
  const code = async (query: string) => codeOf((await client.subscribe(query).untilOver()).error);
  expect(await code('subscription {')).toBe('GRAPHQL_PARSE_FAILED');
  expect(await code('subscription { petChanged { nothing } }')).toBe('GRAPHQL_VALIDATION_FAILED');
  expect(await code('subscription { petChanged { petId } orderChanged { id } }')).toBe('GRAPHQL_VALIDATION_FAILED');
  expect(await code(`subscription { petChanged { ${'id '.repeat(2001)} } }`)).toBe('OPERATION_TOO_COMPLEX');
  expect(await code('subscription { petChanged(filter: { ids: ["0"] }) { petId } }')).toBe('BAD_USER_INPUT');
  expect(await code('subscription { petChanged(filter: { ids: ["abcdefghij12"] }) { petId } }')).toBe('BAD_USER_INPUT');
  const variables = 'subscription ($ids: [ID!]) { petChanged(filter: { ids: $ids }) { petId } }';
  const { error } = await client.subscribe(variables, { ids: ['x'] }).untilOver();
  expect(error).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', details: [{ path: 'filter.ids.0' }] } }]);
  expect(await remaining(headers)).toBe(53);
});

describe('an API key', () => {
  test.each([
    ['as X-API-Key', (key: string) => ({ 'X-API-Key': key })],
    ['as apiKey', (key: string) => ({ apiKey: key })],
    ['as Authorization', (key: string) => ({ Authorization: `Bearer ${key}` })],
  ])('is read from connection_init %s', async (_name, params) => {
    const { whole } = await gateway.createKey();
    const client = open(socketClient(url, params(whole)));
    const { answers } = await client.subscribe('{ viewer { plan apiKey { id } } }').untilOver();
    expect(answers).toMatchObject([{ data: { viewer: { apiKey: { id: whole.slice(3, 15) } } } }]);
  });

  test('is read from the upgrade request, unless connection_init has a key', async () => {
    const [first, second] = [await gateway.createKey(), await gateway.createKey()];
    const viewer = async (client: Subscriber) =>
      (await open(client).subscribe('{ viewer { apiKey { id } } }').untilOver()).answers[0]?.data?.viewer;
    expect(await viewer(socketClient(url, undefined, first.headers))).toMatchObject({
      apiKey: { id: first.id },
    });
    expect(await viewer(socketClient(url, { apiKey: second.whole }, first.headers))).toMatchObject({
      apiKey: { id: second.id },
    });
  });

  test('that is not a string closes the connection with 4403', async () => {
    const { whole } = await gateway.createKey();
    for (const apiKey of [5, [whole], { toString: whole }]) {
      const { error } = await open(socketClient(url, { apiKey })).subscribe(SUBSCRIPTION).untilOver();
      expect(error).toMatchObject({ code: 4403 });
    }
  });

  test('that is null counts as no key, and other parameters of connection_init are ignored', async () => {
    const params = { apiKey: null, client: { toString: 'x' } };
    const { answers } = await open(socketClient(url, params)).subscribe('{ viewer { apiKey { id } } }').untilOver();
    expect(answers).toMatchObject([{ data: { viewer: { apiKey: null } } }]);
  });

  test('that is wrong closes the connection with 4403, and the attempt counts against the address', async () => {
    const before = await remaining({});
    const wrong = `ps_000000000000_${'x'.repeat(32)}`;
    const { error } = await open(socketClient(url, { apiKey: wrong }))
      .subscribe(SUBSCRIPTION)
      .untilOver();
    expect(error).toMatchObject({
      code: 4403,
      reason: 'The API key is unknown, or its secret is wrong.',
    });
    expect(await remaining({})).toBe(before - 1);
  });
});

test('when a key is revoked, its operations end, and new operations are rejected', async () => {
  const key = await gateway.createKey();
  const client = open(socketClient(url, key.headers));
  const over = client.subscribe(SUBSCRIPTION);
  const stream = open(streamClient(url, key.headers)).subscribe(SUBSCRIPTION);
  const other = open(socketClient(url, { apiKey: ADMIN_KEY })).subscribe(SUBSCRIPTION);
  await until(async () => (await running(gateway)) === 3);
  await gateway.data('mutation ($id: ID!) { revokeApiKey(id: $id) { id } }', { id: key.id });
  for (const received of [over, stream]) {
    await received.untilOver();
    expect(received.answers).toMatchObject([{ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] }]);
    expect(received.isComplete).toBe(true);
  }
  expect(other.answers).toEqual([]);
  expect(await running(gateway)).toBe(1);
  expect((await client.subscribe(SUBSCRIPTION).untilOver()).error).toMatchObject({ code: 4403 });
});

test('when a key loses a scope, its operations end; when it gets a scope, they continue', async () => {
  const key = await gateway.createKey({ scopes: ['READ', 'WRITE'] });
  const setScopes = (...scopes: string[]) =>
    gateway.data(
      'mutation ($id: ID!, $scopes: [Scope!]) { updateApiKey(id: $id, input: { scopes: $scopes }) { id } }',
      {
        id: key.id,
        scopes,
      },
    );
  const clients = [open(socketClient(url, key.headers)), open(streamClient(url, key.headers))];
  const operations = clients.map((client) => client.subscribe(SUBSCRIPTION));
  await until(async () => (await running(gateway)) === 2);
  await setScopes('READ', 'WRITE', 'ADMIN');
  // Keys are checked every second.
  await sleep(2_500);
  expect(await running(gateway)).toBe(2);
  await setScopes('READ');
  for (const received of operations) {
    await received.untilOver();
    expect(received.answers).toMatchObject([{ errors: [{ extensions: { code: 'FORBIDDEN' } }] }]);
  }
  open(socketClient(url, key.headers)).subscribe(SUBSCRIPTION);
  await until(async () => (await running(gateway)) === 1);
});

test('operations per caller are limited across all protocols; an operation that ends releases its slot', async () => {
  const { headers } = await gateway.createKey();
  const client = open(socketClient(url, headers));
  const first = client.subscribe(SUBSCRIPTION);
  client.subscribe(SUBSCRIPTION);
  open(streamClient(url, headers)).subscribe(SUBSCRIPTION);
  await until(async () => (await running(gateway)) === 3);
  expect(codeOf((await client.subscribe(SUBSCRIPTION).untilOver()).error)).toBe('RATE_LIMITED');
  const refused = await open(streamClient(url, headers)).subscribe(SUBSCRIPTION).untilOver();
  expect(refused.error).toMatchObject({ response: { status: 429 } });
  first.stop();
  await until(async () => (await running(gateway)) === 2);
  client.subscribe(SUBSCRIPTION);
  await until(async () => (await running(gateway)) === 3);
  // The limit of other callers is separate.
  const { headers: others } = await gateway.createKey();
  open(socketClient(url, others)).subscribe(SUBSCRIPTION);
  await until(async () => (await running(gateway)) === 4);
});

describe('while a key cannot be looked up', () => {
  afterEach(() => jest.restoreAllMocks());

  test.each<[string, (headers: Record<string, string>) => Subscriber]>([
    ['WebSocket', (headers) => socketClient(url, headers)],
    ['an event stream', (headers) => streamClient(url, headers)],
  ])(
    'its subscriptions over %s hold back their events, and deliver them once it is accepted',
    async (_name, connect) => {
      const key = await gateway.createKey();
      const received = open(connect(key.headers)).subscribe(SUBSCRIPTION);
      const other = open(socketClient(url, { apiKey: ADMIN_KEY })).subscribe(SUBSCRIPTION);
      await until(async () => (await running(gateway)) === 2);
      const down = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
      let isDown = true;
      const lookUps = watchLookUps(gateway.database, (read, id) =>
        isDown && id === key.id ? Promise.reject(down) : read(),
      );
      outdateKeys();
      await until(async () => lookUps.includes(key.id));
      await gateway.data('mutation { createCategory(input: { name: "Dogs" }) { id } }');
      await gateway.data('mutation ($pet: NewPet!) { createPet(input: $pet) { id } }', {
        pet: { name: 'Rex', categoryId: await lastCategory() },
      });
      await other.until(1);
      await sleep(100);
      expect(received.answers).toEqual([]);
      isDown = false;
      await received.until(1);
      expect(received.said).toEqual(other.said);
    },
  );

  test('its subscriptions end without another event if it turns out to be revoked', async () => {
    const key = await gateway.createKey();
    const received = open(socketClient(url, key.headers)).subscribe(SUBSCRIPTION);
    await until(async () => (await running(gateway)) === 1);
    const elsewhere = await gateway.another();
    await elsewhere.data('mutation ($id: ID!) { revokeApiKey(id: $id) { id } }', { id: key.id });
    let answer: () => void = () => undefined;
    const lookUps = watchLookUps(gateway.database, async (read, id) => {
      if (id === key.id)
        await new Promise<void>((resolve) => {
          answer = resolve;
        });
      return read();
    });
    outdateKeys();
    await until(async () => lookUps.includes(key.id));
    await gateway.data('mutation { createCategory(input: { name: "Dogs" }) { id } }');
    await gateway.data('mutation ($pet: NewPet!) { createPet(input: $pet) { id } }', {
      pet: { name: 'Rex', categoryId: await lastCategory() },
    });
    answer();
    await received.untilOver();
    expect(received.answers).toMatchObject([{ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] }]);
    await elsewhere.close();
  });
});

/** Makes the next use of each key look it up. */
function outdateKeys(): void {
  const now = performance.now.bind(performance);
  jest.spyOn(performance, 'now').mockImplementation(() => now() + 5_001);
}

async function lastCategory(): Promise<string> {
  const { categories } = await gateway.data('{ categories(last: 1) { nodes { id } } }');
  return String(categories?.nodes?.[0 as never]?.id);
}
