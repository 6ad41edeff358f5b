import type { Options, Scenario, Stream } from '../scenario';

const STREAM = '/graphql/stream';
const accept = 'text/event-stream';

const OPERATIONS: [title: string, body: unknown][] = [
  ['a query', { query: '{ pet(id: 1) { name } rateLimit { cost } }' }],
  [
    'an operation by its name',
    {
      query: 'query A { __typename } query B($id: ID!) { pet(id: $id) { name } }',
      operationName: 'B',
      variables: { id: 2 },
    },
  ],
  ['a mutation', { query: 'mutation { updatePet(id: 2, input: { name: "Stream" }) { name } }' }],
  [
    'a mutation that fails',
    { query: 'mutation { a: deletePet(id: 99) { id } b: updatePet(id: 2, input: {}) { name } }' },
  ],
  ['a query without data', { query: '{ pets(first: 0) { totalCount } }' }],
  ['an unknown field', { query: 'subscription { petChangd { kind } }' }],
  ['a parse error', { query: 'subscription {' }],
  ['two root fields', { query: 'subscription { petChanged { kind } orderChanged { kind } }' }],
  ['a page', { query: 'subscription { petChanged { pet { orders { totalCount } } } }' }],
  [
    'wrong variables',
    { query: 'subscription ($ids: [ID!]) { petChanged(filter: { ids: $ids }) { kind } }', variables: { ids: [0] } },
  ],
  ['an unknown operationName', { query: 'subscription A { petChanged { kind } }', operationName: 'B' }],
  ['a batch', [{ query: '{ __typename }' }]],
  ['no query', {}],
  ['a query that is no text', { query: 1 }],
  ['variables that are a list', { query: '{ __typename }', variables: [] }],
  ['operationName that is a number', { query: '{ __typename }', operationName: 1 }],
  ['no JSON', '{'],
  ['an empty body', ''],
];

const get = (parameters: Record<string, string>) => `GET ${STREAM}?${new URLSearchParams(parameters)}`;

const OTHER_FORMS: [line: string, options: Options][] = [
  [get({ query: '{ pet(id: 1) { name } }' }), { headers: { accept } }],
  [get({ query: 'query ($id: ID!) { pet(id: $id) { name } }', variables: '{"id":2}' }), { headers: { accept } }],
  [get({ query: '{ __typename }', variables: 'x' }), { headers: { accept } }],
  [get({ query: 'mutation { updatePet(id: 1, input: {}) { name } }' }), { headers: { accept } }],
  [`GET ${STREAM}`, { headers: { accept } }],
  [get({ query: '{ __typename }' }), { headers: { accept: '*/*' } }],
  [get({ query: '{ __typename }' }), { headers: { accept: 'text/event-stream;q=0' } }],
  [`POST ${STREAM}`, { headers: { accept: 'application/json' }, body: { query: '{ __typename }' } }],
  [`POST ${STREAM}`, { headers: { accept: undefined }, body: { query: '{ __typename }' } }],
  [
    `POST ${STREAM}`,
    { headers: { accept: 'application/graphql-response+json, text/event-stream' }, body: { query: '{ nothing }' } },
  ],
  [`POST ${STREAM}`, { headers: { accept, 'content-type': 'text/plain' }, body: { query: '{ __typename }' } }],
  [`PUT ${STREAM}`, { headers: { accept }, body: { query: '{ __typename }' } }],
  [`HEAD ${STREAM}`, { headers: { accept } }],
  [
    `POST ${STREAM}`,
    {
      headers: { accept, 'idempotency-key': 's1' },
      body: { query: 'mutation { updatePet(id: 3, input: { name: "Once" }) { name } }' },
    },
  ],
  [
    `POST ${STREAM}`,
    {
      headers: { accept, 'idempotency-key': 's1' },
      body: { query: 'mutation { updatePet(id: 3, input: { name: "Once" }) { name } }' },
    },
  ],
];

export const scenarios: Scenario[] = [
  {
    name: 'live operations over event streams',
    run: async (net) => {
      await net.shop();
      for (const [title, body] of OPERATIONS) await net.rest(`POST ${STREAM}`, { title, body, headers: { accept } });
      for (const [line, options] of OTHER_FORMS) await net.rest(line, options);
      const reader = await net.key('reader', { scopes: ['READ'] });
      const wrong = { name: 'a wrong key', headers: { authorization: 'Bearer x', 'x-forwarded-for': '203.0.113.9' } };
      for (const as of [reader, net.anonymous(), wrong]) {
        for (const query of ['{ pet(id: 1) { name } }', 'mutation { updatePet(id: 1, input: {}) { name } }'])
          await net.rest(`POST ${STREAM}`, { as, body: { query }, headers: { accept } });
      }
    },
  },
  {
    name: 'live events over event streams',
    run: async (net) => {
      await net.shop();
      const pets = await net.stream({
        query: 'subscription { petChanged(filter: { ids: [1, 13] }) { kind petId pet { name category { name } } } }',
      });
      const orders = await net.stream({
        query:
          'subscription ($pets: [ID!]) { orderChanged(filter: { petIds: $pets }) { kind order { quantity pet { name } } } }',
        variables: { pets: '3' },
      });
      const stock = await net.stream({
        query:
          'subscription Low { inventoryChanged(filter: { statuses: [sold] }) { kind petId item { quantity status } } }',
        operationName: 'Low',
      });
      const byGet = await net.stream(
        { query: 'subscription { petChanged(filter: { statuses: [pending] }) { petId } }' },
        { as: net.anonymous() },
      );
      const changes: [query: string, streams: [stream: Stream, title: string, events: number][]][] = [
        [
          'createPet(input: { name: "Nemo", categoryId: 3, status: pending }) { id }',
          [
            [pets, 'created', 1],
            [byGet, 'created', 1],
          ],
        ],
        ['updatePet(id: 2, input: { name: "Seen by one" }) { id }', [[byGet, 'updated', 1]]],
        ['updatePet(id: 1, input: { name: "a\\n\\"b\\" 🐶" }) { id }', [[pets, 'updated', 1]]],
        [
          'placeOrder(input: { petId: 3, quantity: 4 }) { id }',
          [
            [orders, 'created', 1],
            [stock, 'reserved', 1],
          ],
        ],
        ['placeOrder(input: { petId: 1, quantity: 1 }) { id }', []],
        [
          'updateOrder(id: 7, input: { petId: 6, quantity: 1 }) { id }',
          [
            [orders, 'moved away', 1],
            [stock, 'moved away', 2],
          ],
        ],
        [
          'deletePet(id: 13) { id }',
          [
            [pets, 'deleted', 1],
            [byGet, 'deleted', 1],
          ],
        ],
        [
          'updateOrder(id: 1, input: { petId: 3 }) { id }',
          [
            [orders, 'moved here', 1],
            [stock, 'moved here', 1],
          ],
        ],
      ];
      for (const [query, streams] of changes) {
        await net.prepare(`mutation { ${query} }`);
        for (const [stream, title, events] of streams) await stream.record(`${title}: ${query}`, events);
      }
      for (const stream of [pets, orders, stock, byGet]) stream.close();
      const revoked = await net.key('revoked');
      const ended = await net.stream({ query: 'subscription { petChanged { kind } }' }, { as: revoked });
      await net.prepare('mutation ($id: ID!) { revokeApiKey(id: $id) { id } }', { id: revoked.id });
      await ended.record('the key is revoked', 3); // The stream ends before three events.
    },
  },
];
