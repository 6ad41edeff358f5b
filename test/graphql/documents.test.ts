import type { Gateway } from '../helper/gateway';
import { fillToys, startToys } from '../toys/gateway';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startToys();
  await fillToys(gateway.database);
});
afterAll(() => gateway.close());

const INVALID = 'GRAPHQL_VALIDATION_FAILED';

describe('a document is rejected as a whole, with status 400, if it', () => {
  test.each([
    ['does not parse', '{ toys { ', 'GRAPHQL_PARSE_FAILED'],
    ['has characters that GraphQL does not allow', '{ toys; }', 'GRAPHQL_PARSE_FAILED'],
    [
      'has a lone surrogate in a literal',
      '{ toys(filter: { name: "\\uD800" }) { totalCount } }',
      'GRAPHQL_PARSE_FAILED',
    ],
    ['has no operation', 'fragment F on Toy { id }', INVALID],
    ['asks for an unknown field', '{ cars { id } }', INVALID],
    ['gives an unknown argument', '{ toy(id: 1, name: "Train") { id } }', INVALID],
    ['lacks a required argument', '{ toy { id } }', INVALID],
    ['selects nothing from an object', '{ toy(id: 1) }', INVALID],
    ['selects from a scalar', '{ toy(id: 1) { id { x } } }', INVALID],
    ['uses an unknown fragment', '{ toy(id: 1) { ...F } }', INVALID],
    ['has fragments in a cycle', '{ toy(id: 1) { ...F } } fragment F on Toy { ...F }', INVALID],
    ['uses an unknown variable', '{ toy(id: $id) { id } }', INVALID],
    ['gives a variable to an argument of another type', 'query ($id: Boolean!) { toy(id: $id) { id } }', INVALID],
    ['gives an unknown enum value', '{ toys(orderBy: { field: COLOUR }) { totalCount } }', INVALID],
    ['gives an unknown input field', '{ toys(filter: { colour: "red" }) { totalCount } }', INVALID],
    [
      'has two operations, and the request has no operationName',
      'query A { toys { totalCount } } query B { toys { totalCount } }',
      INVALID,
    ],
    ['has an anonymous and a named operation', '{ toys { totalCount } } query B { toys { totalCount } }', INVALID],
  ])('%s', async (_what, document, code) => {
    const answer = await gateway.graphql(document);
    expect(answer.status).toBe(400);
    expect(answer.data).toBeUndefined();
    expect(answer.errors.map(({ extensions }) => [extensions?.code, extensions?.status])).toContainEqual([code, 400]);
  });
});

test.each([
  ['B', { status: 200, body: { data: { toy: { name: 'Ball' } } } }],
  ['C', { status: 400, body: { errors: [{ extensions: { code: INVALID, status: 400 } }] } }],
])(
  'operationName selects one of several operations, and an unknown operationName is rejected: %s',
  async (operationName, answer) => {
    const query = 'query A { toy(id: 1) { name } } query B { toy(id: 2) { name } }';
    const response = await gateway.app.inject({ method: 'POST', url: '/graphql', payload: { query, operationName } });
    expect({ status: response.statusCode, body: response.json() }).toMatchObject(answer);
  },
);

describe('an empty operationName', () => {
  const ask = (query: string, more: { method?: 'GET'; url?: string } = {}) => {
    const { method = 'POST', url = '/graphql' } = more;
    const parameters = { query, operationName: '' };
    return gateway.app.inject({
      method,
      url,
      headers: { accept: url === '/graphql' ? '*/*' : 'text/event-stream' },
      ...(method === 'GET' ? { query: parameters } : { payload: parameters }),
    });
  };

  test.each([{}, { method: 'GET' as const }, { url: '/graphql/stream' }])('is ignored: %j', async (way) => {
    for (const _ of ['first', 'again']) {
      for (const query of ['{ toy(id: 1) { name } }', 'query A { toy(id: 1) { name } }']) {
        const { statusCode, body } = await ask(query, way);
        expect([statusCode, body]).toEqual([200, expect.stringContaining('{"toy":{"name":"Train"}}')]);
      }
    }
    expect((await ask('query A { __typename } query B { __typename }', way)).body).toContain(
      'operationName must say which',
    );
  });

  test('does not allow mutations over GET', async () => {
    const rename = 'mutation { updateToy(id: 1, input: { name: "Doll" }) { id } }';
    for (const url of ['/graphql', '/graphql/stream'])
      expect((await ask(rename, { method: 'GET', url })).statusCode).toBe(405);
    expect(await gateway.data('{ toy(id: 1) { name } }')).toEqual({ toy: { name: 'Train' } });
  });
});

test.each([
  ['/graphql', 'Operation batching disabled.'],
  ['/graphql/stream', 'The request is malformed: batched operations are not supported.'],
])('%s answers a batch of requests with a single error', async (url, message) => {
  for (const payload of [[{ query: '{ toy(id: 1) { id } }' }], []]) {
    const headers = { accept: url === '/graphql' ? '*/*' : 'text/event-stream' };
    const response = await gateway.app.inject({ method: 'POST', url, headers, payload });
    expect(response.statusCode).toBe(400);
    expect(response.json().errors).toMatchObject([{ message, extensions: { status: 400 } }]);
  }
});
