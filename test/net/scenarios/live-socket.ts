import { type Caller, type Net, type Scenario, type Socket, until } from '../scenario';

/** Starts a subscription, and waits until it is charged to the quota. The subscription misses earlier events. */
async function subscribe(
  net: Net,
  socket: Socket,
  id: string,
  query: string,
  variables?: object,
  as?: Caller,
): Promise<void> {
  const before = await left(net, as);
  socket.send({ id, type: 'subscribe', payload: { query, ...(variables && { variables }) } });
  await until(async () => (await left(net, as)) !== before);
}

async function left(net: Net, as?: Caller): Promise<number> {
  const { json } = await net.exchange('GET', '/rate_limit', { ...(as && { as }) });
  return json.windows[1].remaining;
}

type Connection = NonNullable<Parameters<Net['socket']>[0]> & { payload?: object | undefined };

/** Opens a connection. Retries if the machine was too busy to send `connection_init` within three seconds. */
async function initialised(net: Net, { payload, ...options }: Connection = {}): Promise<Socket> {
  for (let attempt = 0; attempt < 5; attempt++) {
    const socket = await net.socket(options);
    socket.send({ type: 'connection_init', ...(payload && { payload }) });
    if (await socket.received(1)) return socket;
  }
  throw new Error('connection_init was not acknowledged');
}

/**
 * Mutations that run in order, and the subscriptions that are open meanwhile. `events[i]` is the number of events that a
 * subscription gets for `changes[i]`.
 */
interface Topic {
  readonly changes: readonly string[];
  readonly subscriptions: readonly [query: string, events: readonly number[]][];
}

const TOPICS: Topic[] = [
  {
    changes: [
      'createPet(input: { name: "Nemo 🐠", categoryId: 2 }) { id }',
      'updatePet(id: 13, input: { status: sold }) { id }',
      'updatePet(id: 13, input: {}) { id }',
      'updatePet(id: 1, input: { name: "Rexy" }) { id }',
      'updatePet(id: 99, input: { name: "Nobody" }) { id }',
      'a: updatePet(id: 1, input: { categoryId: 2 }) { id } b: updatePet(id: 1, input: { name: "" }) { id } c: updatePet(id: 2, input: { status: available }) { id }',
      'deletePet(id: 13) { id }',
    ],
    subscriptions: [
      [
        'petChanged { __typename kind petId pet { id name status category { name } inventory { quantity } } }',
        [1, 1, 1, 1, 0, 2, 1],
      ],
      ['petChanged(filter: { statuses: [sold] }) { kind petId pet { status } }', [0, 1, 1, 0, 0, 0, 1]],
      [
        'petChanged(filter: { categoryIds: [1], ids: [1, 2] }) { kind petId pet { categoryId } }',
        [0, 0, 0, 1, 0, 2, 0],
      ],
      ['petChanged(filter: null) { kind }', [1, 1, 1, 1, 0, 2, 1]],
    ],
  },
  {
    changes: [
      'placeOrder(input: { petId: 3, quantity: 2 }) { id }',
      'placeOrder(input: { petId: 3, quantity: 99 }) { id }',
      'updateOrder(id: 7, input: { quantity: 3, shipDate: "2025-01-01T00:00:00Z" }) { id }',
      'updateOrder(id: 7, input: { petId: 8 }) { id }',
      'updateOrder(id: 3, input: { complete: true }) { id }',
      'cancelOrder(id: 7) { id }',
    ],
    subscriptions: [
      [
        'orderChanged { kind orderId order { id quantity shipDate complete pet { name category { name } } } }',
        [1, 0, 1, 1, 1, 1],
      ],
      ['orderChanged(filter: { petIds: [3] }) { kind orderId order { petId } }', [1, 0, 1, 1, 0, 0]],
      ['orderChanged(filter: { complete: true }) { kind orderId }', [0, 0, 0, 0, 1, 0]],
      ['inventoryChanged { kind petId item { quantity } }', [1, 0, 1, 1, 0, 0]],
    ],
  },
  {
    changes: [
      'setInventory(petId: 7, input: { quantity: 7 }) { petId }',
      'setInventory(petId: 7, input: { quantity: 2 }) { petId }',
      'placeOrder(input: { petId: 7, quantity: 1 }) { id }',
      'updatePet(id: 7, input: { status: sold }) { id }',
      'removeInventory(petId: 7) { petId }',
      'setInventory(petId: 8, input: { quantity: 2 }) { petId }',
    ],
    subscriptions: [
      ['inventoryChanged { kind petId item { quantity status pet { name other: id } } }', [1, 1, 1, 0, 1, 1]],
      [
        'inventoryChanged(filter: { petIds: 7, statuses: available }) { kind petId item { quantity } }',
        [1, 1, 1, 0, 0, 0],
      ],
    ],
  },
];

/** Operations that the server rejects with one message each. */
const REFUSED: [query: string, variables?: object][] = [
  ['subscription {'],
  ['subscription { petChangd { kind } }'],
  ['subscription { petChanged { kind } orderChanged { kind } }'],
  ['subscription { petChanged { kind } __typename }'],
  ['subscription { petChanged { pet { orders { totalCount } } } }'],
  ['subscription { petChanged { pet { category { pets { nodes { id } } } } } }'],
  ['subscription { petChanged(filter: { ids: [0] }) { kind } }'],
  ['subscription { petChanged(filter: { name: "x" }) { kind } }'],
  [
    'subscription ($filter: PetChangeFilter) { petChanged(filter: $filter) { kind } }',
    { filter: { ids: 'x', other: 1 } },
  ],
  ['subscription ($id: ID!) { petChanged(filter: { ids: [$id] }) { kind } }'],
  ['subscription A { petChanged { kind } } subscription B { orderChanged { kind } }'],
  ['{ nothing }'],
];

const TYPENAME = { query: '{ __typename }' };

/** Messages that end a connection, and whether each message is sent after `connection_init`. */
const ENDING: [title: string, message: object | string, isInitialised?: boolean][] = [
  ['connection_init twice', { type: 'connection_init' }, true],
  ['subscribe before connection_init', { id: '1', type: 'subscribe', payload: TYPENAME }],
  ['an unknown type', { type: 'start', id: '1', payload: TYPENAME }, true],
  ['a type of servers', { type: 'next', id: '1', payload: {} }, true],
  ['no type', {}],
  ['no JSON', 'hello'],
  ['a JSON text', '"hello"'],
  ['null', 'null'],
  ['subscribe without an id', { type: 'subscribe', payload: TYPENAME }, true],
  ['subscribe without a payload', { id: '1', type: 'subscribe' }, true],
  ['an empty id', { id: '', type: 'subscribe', payload: TYPENAME }, true],
  ['a query that is no text', { id: '1', type: 'subscribe', payload: { query: 1 } }, true],
  ['a message over 100 KiB', { type: 'connection_init', payload: { text: 'x'.repeat(102_400) } }],
  ['a deep message', `{"type":"connection_init","payload":{"a":${'['.repeat(200)}${']'.repeat(200)}}}`],
];

/** Messages that do not end a connection, and the number of messages that the server sends in response. */
const HARMLESS: [title: string, messages: object[], count: number][] = [
  ['a ping before connection_init', [{ type: 'ping' }], 1],
  ['a pong', [{ type: 'pong' }, { type: 'connection_init' }], 1],
  ['a ping with a payload', [{ type: 'ping', payload: { a: 1 } }], 1],
  ['complete of an unknown id', [{ id: '9', type: 'complete' }, { type: 'ping' }], 1],
];

const OPERATIONS: [payload: object, messages: number][] = [
  [{ query: '{ pet(id: 1) { name } rateLimit { cost } }' }, 2],
  [
    {
      query: 'query A($id: ID!) { pet(id: $id) { name } } query B { __typename }',
      operationName: 'A',
      variables: { id: 2 },
    },
    2,
  ],
  [{ query: 'mutation { updatePet(id: 2, input: { name: "Socket" }) { name } }' }, 2],
  [{ query: 'mutation { a: deletePet(id: 99) { id } b: removeInventory(petId: 2) { quantity } }' }, 2],
  [{ query: '{ pets(first: 0) { totalCount } }' }, 2],
  [{ query: '{ pet(id: 1) { nam } }' }, 1],
  [{ query: 'query ($id: ID!) { pet(id: $id) { name } }', variables: { id: 'x' } }, 1],
  [{ query: '{ __typename }', variables: null, operationName: null, extensions: null }, 2],
  [{ query: '{ __typename }', operationName: 'Other' }, 1],
];

export const scenarios: Scenario[] = [
  {
    name: 'live events over websocket',
    run: async (net) => {
      await net.shop();
      for (const { changes, subscriptions } of TOPICS) {
        const sockets: Socket[] = [];
        for (const [query] of subscriptions) {
          const socket = await initialised(net);
          await subscribe(net, socket, 'a', `subscription { ${query} }`);
          sockets.push(socket);
        }
        const total = (events: readonly number[]) => events.reduce((sum, count) => sum + count, 1);
        for (const [i, change] of changes.entries()) {
          await net.exchange('POST', '/graphql', { body: { query: `mutation { ${change} }` } });
          // An event has the row at the time of delivery, so the next change must wait for the event.
          await Promise.all(subscriptions.map(([, events], n) => sockets[n]?.received(total(events.slice(0, i + 1)))));
        }
        for (const [n, [query, events]] of subscriptions.entries()) {
          await sockets[n]?.record(query, total(events));
          sockets[n]?.close();
        }
      }
    },
  },
  {
    name: 'live operations over websocket',
    run: async (net) => {
      await net.shop();
      const socket = await initialised(net);
      await socket.record('connection_init', 1);
      for (const [payload, messages] of OPERATIONS) {
        socket.send({ id: 'q', type: 'subscribe', payload });
        await socket.record(JSON.stringify(payload), messages);
      }
      for (const [query, variables] of REFUSED) {
        socket.send({ id: 'r', type: 'subscribe', payload: { query, variables } });
        await socket.record(`${query} ${JSON.stringify(variables ?? {})}`, 1);
      }
      await subscribe(net, socket, 'first', 'subscription { petChanged(filter: { ids: [1] }) { kind petId } }');
      await subscribe(
        net,
        socket,
        'second',
        'subscription ($ids: [ID!]) { changed: petChanged(filter: { ids: $ids }) { type: kind pet { name } } }',
        { ids: ['2'] },
      );
      await net.rest('PATCH /pets/1', { body: { name: 'One' } });
      await socket.record('one of two subscriptions', 1);
      await net.graphql('mutation { updatePet(id: 2, input: { name: "Two" }) { id } }');
      await socket.record('the other one', 1);
      socket.send({ id: 'first', type: 'complete' });
      socket.send({ type: 'ping' });
      await socket.record('complete, then ping', 1);
      await net.rest('PATCH /pets/1', { body: { name: 'Three' } });
      await net.rest('PATCH /pets/2', { body: { name: 'Four' } });
      await socket.record('after complete of the first', 1);
      await subscribe(net, socket, 'first', 'subscription { inventoryChanged { petId item { quantity } } }');
      await net.rest('PUT /store/inventory/9', { body: { quantity: 9 } });
      await socket.record('the id is used again', 1);
      socket.close();
    },
  },
  {
    name: 'live protocol of websocket',
    once: true,
    run: async (net) => {
      await net.shop();
      for (const [title, message, isInitialised] of ENDING) {
        const socket = await (isInitialised ? initialised(net) : net.socket());
        socket.send(message);
        await socket.recordEnd(title);
      }
      for (const [title, messages, count] of HARMLESS) {
        const socket = await net.socket();
        for (const message of messages) socket.send(message);
        await socket.record(title, count);
        socket.close();
      }
      const twice = await initialised(net);
      await subscribe(net, twice, '1', 'subscription { petChanged { kind } }');
      twice.send({ id: '1', type: 'subscribe', payload: TYPENAME });
      await twice.recordEnd('the same id twice');
      for (const options of [
        { protocol: 'graphql-ws' },
        { protocol: '' },
        { path: '/graphql/stream' },
        { path: '/' },
        { path: '/pets' },
      ]) {
        const socket = await net.socket(options);
        await socket.recordEnd(JSON.stringify(options));
      }
      const silent = await net.socket();
      await silent.recordEnd('no connection_init');
    },
  },
  {
    name: 'live access',
    settings: { ANONYMOUS_ACCESS: 'none' },
    run: async (net) => {
      await net.shop();
      const reader = await net.key('reader', { scopes: ['READ'] });
      const wrong = {
        name: 'a wrong key',
        headers: { 'x-api-key': 'ps_aaaaaaaaaaaa_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', 'x-forwarded-for': '203.0.113.9' },
      };
      const viewer = { id: '1', type: 'subscribe', payload: { query: '{ viewer { plan scopes apiKey { name } } }' } };
      const read = { id: '2', type: 'subscribe', payload: { query: '{ pet(id: 1) { name } }' } };
      const change = {
        id: '3',
        type: 'subscribe',
        payload: { query: 'mutation { updatePet(id: 1, input: {}) { name } }' },
      };
      const watch = { id: '4', type: 'subscribe', payload: { query: 'subscription { petChanged { kind } }' } };
      for (const [title, payload] of Object.entries({
        'no key': undefined,
        'X-API-Key': { 'X-API-Key': reader.secret },
        'x-api-key': { 'x-api-key': reader.secret },
        apiKey: { apiKey: reader.secret },
        Authorization: { Authorization: `Bearer ${reader.secret}` },
        'a key that is null': { apiKey: null },
        'something else': { client: 'x', version: 1 },
      })) {
        const socket = await initialised(net, { as: net.anonymous(), payload });
        await socket.record(`connection_init with ${title}`, 1);
        socket.send(viewer);
        await socket.record(`viewer with ${title}`, 2);
        socket.close();
      }
      for (const [title, payload] of Object.entries({
        'an unknown key': { apiKey: wrong.headers['x-api-key'] },
        'a malformed key': { apiKey: 'x' },
        'a key that is a number': { apiKey: 1 },
        'Authorization of another scheme': { authorization: 'Basic eDp5' },
      })) {
        const socket = await net.socket({ as: net.anonymous() });
        socket.send({ type: 'connection_init', payload });
        await socket.recordEnd(title);
      }
      for (const as of [net.anonymous(), reader]) {
        const socket = await initialised(net, { as });
        await socket.record('connection_init', 1);
        socket.send(read);
        await socket.record(`a query as ${as.name}`, as === reader ? 2 : 1);
        socket.send(change);
        await socket.record(`a mutation as ${as.name}`, 1);
        if (as !== reader) {
          socket.send(watch);
          await socket.record(`a subscription as ${as.name}`, 1);
        }
        socket.close();
      }
      const refused = await net.socket({ as: wrong });
      await refused.recordEnd('upgrade with a wrong key');
      const both = await initialised(net, { payload: { apiKey: reader.secret } });
      await both.record('the key of connection_init replaces that of the upgrade', 1);
      both.send(viewer);
      await both.record('viewer', 2);
      both.close();
      const revoked = await net.key('revoked');
      const socket = await initialised(net, { as: revoked });
      await socket.record('connection_init', 1);
      await subscribe(net, socket, '4', 'subscription { petChanged { kind } }', undefined, revoked);
      socket.send(viewer);
      await socket.record('viewer beside a subscription', 2);
      await net.prepare('mutation ($id: ID!) { revokeApiKey(id: $id) { id } }', { id: revoked.id });
      await socket.record('the subscription of a key that is revoked', 2);
      socket.send({ ...viewer, id: '5' });
      await socket.recordEnd('an operation of a key that is revoked');
    },
  },
];
