import { type Gateway, startGateway } from '../helper/gateway';
import { refusalOf } from '../helper/refusal';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
  await gateway.data(`mutation {
    createCategory(input: { name: "Dogs" }) { id }
    a: createPet(input: { name: "Rex", categoryId: 1 }) { id }
    b: createPet(input: { name: "Max", categoryId: 1 }) { id }
  }`);
});
afterAll(() => gateway.close());

const INVALID = 'GRAPHQL_VALIDATION_FAILED';

describe('a document is refused as a whole, with status 400, if it', () => {
  test.each([
    ['does not parse', '{ pets { ', 'GRAPHQL_PARSE_FAILED'],
    ['has characters that GraphQL does not allow', '{ pets; }', 'GRAPHQL_PARSE_FAILED'],
    [
      'has a lone surrogate in a literal',
      '{ pets(filter: { name: "\\uD800" }) { totalCount } }',
      'GRAPHQL_PARSE_FAILED',
    ],
    ['has no operation', 'fragment F on Pet { id }', INVALID],
    ['asks for an unknown field', '{ cats { id } }', INVALID],
    ['gives an unknown argument', '{ pet(id: 1, name: "Rex") { id } }', INVALID],
    ['lacks a required argument', '{ pet { id } }', INVALID],
    ['selects nothing from an object', '{ pet(id: 1) }', INVALID],
    ['selects from a scalar', '{ pet(id: 1) { id { x } } }', INVALID],
    ['uses an unknown fragment', '{ pet(id: 1) { ...F } }', INVALID],
    ['has fragments in a cycle', '{ pet(id: 1) { ...F } } fragment F on Pet { ...F }', INVALID],
    ['uses an unknown variable', '{ pet(id: $id) { id } }', INVALID],
    ['gives a variable to an argument of another type', 'query ($id: Boolean!) { pet(id: $id) { id } }', INVALID],
    ['gives an unknown enum value', '{ pets(filter: { statuses: [dead] }) { totalCount } }', INVALID],
    ['gives an unknown input field', '{ pets(filter: { colour: "red" }) { totalCount } }', INVALID],
    [
      'has two operations and neither is named',
      'query A { pets { totalCount } } query B { pets { totalCount } }',
      INVALID,
    ],
    ['has anonymous operations beside others', '{ pets { totalCount } } query B { pets { totalCount } }', INVALID],
  ])('%s', async (_what, document, code) => {
    const answer = await gateway.graphql(document);
    expect(answer.status).toBe(400);
    expect(answer.data).toBeUndefined();
    expect(answer.errors.map(({ extensions }) => [extensions?.code, extensions?.status])).toContainEqual([code, 400]);
  });
});

describe('of several operations', () => {
  const query = 'query A { pet(id: 1) { name } } query B { pet(id: 2) { name } }';
  const run = async (operationName: string) => {
    const response = await gateway.app.inject({
      method: 'POST',
      url: '/graphql',
      payload: { query, operationName },
    });
    return { status: response.statusCode, body: response.json() };
  };

  test('the named one runs', async () => {
    expect(await run('B')).toMatchObject({ status: 200, body: { data: { pet: { name: 'Max' } } } });
  });

  test('an unknown name is refused', async () => {
    expect(await run('C')).toMatchObject({
      status: 400,
      body: { errors: [{ extensions: { code: INVALID, status: 400 } }] },
    });
  });
});

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

  test.each([{}, { method: 'GET' as const }, { url: '/graphql/stream' }])('selects none: %j', async (way) => {
    for (const _ of ['first', 'again']) {
      for (const query of ['{ pet(id: 1) { name } }', 'query A { pet(id: 1) { name } }']) {
        const { statusCode, body } = await ask(query, way);
        expect([statusCode, body]).toEqual([200, expect.stringContaining('{"pet":{"name":"Rex"}}')]);
      }
    }
    expect((await ask('query A { __typename } query B { __typename }', way)).body).toContain(
      'operationName must say which',
    );
  });

  test('lets GET change nothing', async () => {
    const rename = 'mutation { updatePet(id: 1, input: { name: "Tom" }) { id } }';
    for (const url of ['/graphql', '/graphql/stream'])
      expect((await ask(rename, { method: 'GET', url })).statusCode).toBe(405);
    expect(await gateway.data('{ pet(id: 1) { name } }')).toEqual({ pet: { name: 'Rex' } });
  });
});

describe('an error in a field', () => {
  test('leaves status 200 and the other fields', async () => {
    const { status, data, errors } = await gateway.graphql(
      '{ pet(id: 1) { name wrong: orders(first: 0) { totalCount } } other: pet(id: 2) { name } }',
    );
    expect(status).toBe(200);
    expect(data).toEqual({ pet: null, other: { name: 'Max' } });
    expect(errors).toMatchObject([{ path: ['pet', 'wrong'], extensions: { code: 'BAD_USER_INPUT', status: 400 } }]);
  });

  test('that is not nullable leaves status 200 and null data', async () => {
    const { status, data, errors } = await gateway.graphql('{ pets(first: 0) { totalCount } }');
    expect(status).toBe(200);
    expect(data).toBeNull();
    expect(errors).toMatchObject([{ path: ['pets'], locations: [{ line: 1, column: 3 }] }]);
  });

  test('has the request id of the response', async () => {
    const { headers, errors } = await gateway.graphql(
      '{ pets(first: 0) { totalCount } }',
      {},
      { 'x-request-id': 'abc-1' },
    );
    expect(headers['x-request-id']).toBe('abc-1');
    expect(errors[0]?.extensions?.requestId).toBe('abc-1');
  });
});

describe('variables', () => {
  test('that an operation does not declare are ignored', async () => {
    expect(await gateway.data('{ pet(id: 1) { name } }', { id: 5 })).toEqual({ pet: { name: 'Rex' } });
  });

  test('have the defaults that the operation declares', async () => {
    expect(await gateway.data('query ($id: ID! = 2) { pet(id: $id) { name } }')).toEqual({
      pet: { name: 'Max' },
    });
  });

  test('that are required and missing are all reported', async () => {
    const query = 'query ($id: ID!, $first: Int!) { pet(id: $id) { id } pets(first: $first) { totalCount } }';
    expect(await refusalOf(gateway, query)).toMatchObject({
      http: 400,
      code: 'BAD_USER_INPUT',
      paths: ['id', 'first'],
    });
  });
});

describe('a selection', () => {
  test('may name a field twice, under aliases, in fragments and with directives', async () => {
    const query = `query ($yes: Boolean!) {
      pet(id: 1) { ...Names ... on Pet { again: name @include(if: $yes) status @skip(if: $yes) } category { id } category { name } }
    }
    fragment Names on Pet { name first: name }`;
    expect(await gateway.data(query, { yes: true })).toEqual({
      pet: { name: 'Rex', first: 'Rex', again: 'Rex', category: { id: '1', name: 'Dogs' } },
    });
  });

  test('of a relation reads what each place selects, though they share a fragment', async () => {
    const query = `{ b: pet(id: 2) { ...F } a: pet(id: 1) { ...F category { name } } }
      fragment F on Pet { category { id } }`;
    expect(await gateway.data(query)).toEqual({
      a: { category: { id: '1', name: 'Dogs' } },
      b: { category: { id: '1' } },
    });
  });

  test('of a connection may name its parts twice', async () => {
    const query = '{ pets { nodes { id } nodes { name } edges { node { category { name } } } edges { node { id } } } }';
    expect(await gateway.data(query)).toEqual({
      pets: {
        nodes: [
          { id: '1', name: 'Rex' },
          { id: '2', name: 'Max' },
        ],
        edges: [{ node: { category: { name: 'Dogs' }, id: '1' } }, { node: { category: { name: 'Dogs' }, id: '2' } }],
      },
    });
  });
});

test.each([
  ['/graphql', 'Operation batching disabled.'],
  ['/graphql/stream', 'The request is malformed: batches are refused.'],
])('a batch of requests is refused by %s, as a batch', async (url, message) => {
  for (const payload of [[{ query: '{ pet(id: 1) { id } }' }], []]) {
    const headers = { accept: url === '/graphql' ? '*/*' : 'text/event-stream' };
    const response = await gateway.app.inject({ method: 'POST', url, headers, payload });
    expect(response.statusCode).toBe(400);
    expect(response.json().errors[0]).toMatchObject({ message, extensions: { status: 400 } });
  }
});
