import { everyRow, fillShop } from '../helper/database';
import { type Sent, Transports } from '../helper/transports';

/** Faulty operations get the same response over every transport, regardless of earlier operations. */

let transports: Transports;
beforeAll(async () => {
  transports = await Transports.start('WRITE', fillShop);
});
afterAll(async () => {
  await transports.close();
  expect(transports.logged).toEqual([]);
});

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

interface Fault {
  readonly code: string;
  readonly message?: string | RegExp;
  readonly paths?: readonly string[];
}

/** Expects the same rejection over every transport, which is charged and changes nothing. */
async function expectFault(sent: Sent, { code, message, paths }: Fault): Promise<void> {
  const before = await everyRow(transports.gateway.database);
  const details = paths?.map((path) => expect.objectContaining({ path }));
  for (const [way, send] of Object.entries(transports.ways)) {
    if (/GET/.test(way) && (/^mutation/.test(sent.query) || String(sent.variables).length > 2000)) continue;
    const left = await transports.remaining();
    const reply = await send(sent);
    expect([way, reply]).toEqual([
      way,
      {
        status: 400,
        errors: expect.arrayContaining([
          expect.objectContaining({
            ...(message !== undefined && { message: expect.stringMatching(message) }),
            extensions: expect.objectContaining({ code, status: 400, ...(details && { details }) }),
          }),
        ]),
      },
    ]);
    expect([way, await transports.remaining()]).toEqual([way, left - 1]);
  }
  expect(await everyRow(transports.gateway.database)).toBe(before);
}

describe('a subscription with a condition on its root field is invalid', () => {
  const CONDITIONAL = {
    code: 'GRAPHQL_VALIDATION_FAILED',
    message: /must not have @skip or @include on its root field/,
  };
  test.each([
    'subscription ($s: Boolean!) { petChanged @skip(if: $s) { kind } }',
    'subscription ($s: Boolean!) { petChanged @include(if: $s) { kind } }',
    'subscription ($s: Boolean = false) { petChanged @skip(if: $s) { kind } }',
    'subscription { petChanged @skip(if: false) { kind } }',
    'subscription ($s: Boolean!) { ... @skip(if: $s) { petChanged { kind } } }',
    'subscription ($s: Boolean!) { ...F @include(if: $s) } fragment F on Subscription { petChanged { kind } }',
    'subscription ($s: Boolean!) { ...F } fragment F on Subscription { ...G } fragment G on Subscription { petChanged @skip(if: $s) { kind } }',
    'query A { __typename } subscription B($s: Boolean!) { petChanged @skip(if: $s) { kind } }',
  ])('%s', async (query) => {
    const operationName = query.startsWith('query') ? 'B' : undefined;
    await expectFault({ query, variables: '{"s":false}', operationName }, CONDITIONAL);
  });

  test.each([
    'subscription { petChanged @skip { kind } }',
    'subscription { petChanged @skip(if: "x") { kind } }',
    'subscription { petChanged @skip(if: $unknown) { kind } }',
    'subscription { ...F } fragment F on Subscription { ...F petChanged @skip(if: $unknown) { kind } }',
    'subscription { petChanged { kind } orderChanged { kind } }',
    'subscription { __typename }',
  ])('or otherwise invalid: %s', async (query) => {
    await expectFault({ query }, { code: 'GRAPHQL_VALIDATION_FAILED' });
  });

  test('but a condition below the root field is valid', async () => {
    const query = 'subscription ($s: Boolean!) { petChanged { kind petId @skip(if: $s) } }';
    for (const way of ['an event stream by POST', 'an event stream by GET', 'WebSocket'])
      expect(await transports.ways[way]?.({ query, variables: '{"s":true}' })).toEqual({
        status: 200,
        isRunning: true,
      });
  });
});

describe('a document is rejected alike over every transport, if it', () => {
  const PAGES = '{ pets(first: 100) { nodes { category { pets(first: 100) { nodes { orders { totalCount } } } } } } }';
  test.each([
    ['is not GraphQL', '{', 'GRAPHQL_PARSE_FAILED'],
    ['ends within a subscription', 'subscription { petChanged {', 'GRAPHQL_PARSE_FAILED'],
    ['selects an unknown field', '{ colours }', 'GRAPHQL_VALIDATION_FAILED'],
    ['costs too much', PAGES, 'OPERATION_TOO_COMPLEX'],
  ])('%s', (_what, query, code) => expectFault({ query }, { code }));
});

describe('an explicit null is rejected before anything runs if it is used where null is not allowed', () => {
  const INCLUDE = 'query ($x: Boolean = true) { pets { nodes { id name @include(if: $x) } } }';
  const SKIP = 'query ($x: Boolean = true) { viewer @skip(if: $x) { plan } pet(id: 1) { id } }';
  const NESTED =
    'mutation ($x: Boolean = true) { placeOrder(input: { petId: 1, quantity: 1 }) { id pet { name @include(if: $x) } } }';
  const ITEM = 'query ($x: ID = 1) { pets(filter: { ids: [2, $x] }) { totalCount } }';
  const FIELD = 'mutation ($x: String = "Fish") { createCategory(input: { name: $x }) { id } }';
  const USAGE = 'query ($x: Int) { viewer { usage(days: $x) { date } } }';
  const LATER = `mutation ($x: ID = 1) { a: createCategory(input: { name: "Fish" }) { id } deletePet(id: $x) { id } }`;
  const EVENT = 'subscription ($x: Boolean = true) { petChanged { kind pet { name @include(if: $x) } } }';

  test.each<[query: string, path: string]>([
    [INCLUDE, 'if'],
    [SKIP, 'if'],
    [NESTED, 'if'],
    [ITEM, 'filter.ids.1'],
    [FIELD, 'input.name'],
    [USAGE, 'days'],
    [USAGE.replace('Int', 'Int = null'), 'days'],
    [LATER, 'id'],
    [EVENT, 'if'],
  ])('%s', async (query, path) => {
    const fault = { code: 'BAD_USER_INPUT', message: /must not be null: the variable \$x /, paths: [path] };
    const variables = query.includes('= null') ? '{}' : '{"x":null}';
    const isRead = /^query/.test(query);
    if (isRead && !query.includes('= null')) {
      // The response must not depend on the analyses of earlier requests.
      await expectFault({ query, variables }, fault);
      for (const x of [true, false])
        if (query.includes('Boolean'))
          expect((await transports.ways.POST?.({ query, variables: `{"x":${x}}` }))?.errors).toBeUndefined();
    }
    await expectFault({ query, variables }, fault);
  });

  test('but is allowed where an argument may be null', async () => {
    const query = 'query ($x: Int = 5) { pets(first: $x) { totalCount } }';
    for (const send of Object.values(transports.ways))
      expect(await send({ query, variables: '{"x":null}' })).toMatchObject({ status: 200, data: { pets: {} } });
  });
});

describe('variables that are nested too deeply are rejected', () => {
  const FAULT = { code: 'BAD_USER_INPUT', paths: ['f'], message: /must have at most 100 nesting levels/ };
  test.each([
    ['of a subscription', 'subscription ($f: PetChangeFilter) { petChanged(filter: $f) { kind } }', nested(5000)],
    ['that a subscription does not declare', 'subscription { petChanged { kind } }', `{"a":${nested(5000)}}`],
    ['that a query does not declare', '{ pet(id: 1) { id } }', nested(40_000)],
    ['of more than a hundred levels', '{ pet(id: 1) { id } }', nested(100)],
    ['of a mutation', 'mutation ($f: NewPet!) { createPet(input: $f) { id } }', `{"name":${nested(5000)}}`],
  ])('%s', (_whose, query, f) => expectFault({ query, variables: `{"f":${f}}` }, FAULT));

  test('but not variables of a hundred levels', async () => {
    const sent = { query: '{ pet(id: 1) { id } }', variables: `{"f":${nested(99)}}` };
    for (const send of Object.values(transports.ways)) expect((await send(sent)).status).toBe(200);
  });

  test('of a mutation with an Idempotency-Key', async () => {
    const answer = await transports.gateway.app.inject({
      method: 'POST',
      url: '/graphql',
      headers: { 'content-type': 'application/json', ...transports.headers, 'idempotency-key': 'deep' },
      payload: `{"query":"mutation { createCategory(input: { name: \\"Fish\\" }) { id } }","variables":{"f":${nested(5000)}}}`,
    });
    expect([answer.statusCode, answer.json().errors[0].extensions.code]).toEqual([400, 'BAD_USER_INPUT']);
  });
});

test.each([
  ['{ "query": "{ pet(id: 1) { id } }", "variables": { "__proto__": 1 } }', 200, undefined],
  ['{ "query": "{ pet(id: 1) { id } }", "__proto__": { "variables": [] } }', 200, undefined],
  ['{ "__proto__": { "query": "{ pet(id: 1) { id } }" } }', 400, /query/],
  [
    '{ "query": "mutation ($i: NewPet!) { createPet(input: $i) { id } }", "variables": { "i": { "__proto__": 1 } } }',
    400,
    /input\.__proto__: is not a field of NewPet/,
  ],
  ['{ "query": "{ pet(id: 1) { id } }", }', 400, /not valid JSON/],
])('a key __proto__ in a body is an ordinary key: %s', async (payload, status, message) => {
  for (const path of ['/graphql', '/graphql/stream']) {
    const headers = { 'content-type': 'application/json', ...transports.headers };
    const accept = path === '/graphql' ? 'application/graphql-response+json' : 'text/event-stream';
    const response = await fetch(transports.url + path, {
      method: 'POST',
      headers: { ...headers, accept },
      body: payload,
    });
    const text = await response.text();
    expect([path, /"status":400/.test(text) ? 400 : response.status]).toEqual([path, status]);
    if (message) expect(text).toMatch(message);
    else expect(text).toContain('{"data":{"pet":{"id":"1"}}');
  }
});
