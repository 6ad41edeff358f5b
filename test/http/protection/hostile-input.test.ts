import { type Gateway, startGateway } from '../../helper/gateway';
import { exchange, parseResponse } from '../../helper/wire';

let gateway: Gateway;
let url: string;
beforeAll(async () => {
  gateway = await startGateway();
  url = await gateway.listen();
  await gateway.data('mutation { createCategory(input: { name: "Dogs" }) { id } }');
});
afterAll(() => gateway.close());

/** Sends a body unchanged; each interface parses it in its own way. */
async function post(path: string, body: string) {
  const { headers } = await gateway.createKey();
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  return { status: response.status, body: await response.text() };
}

describe('a URL', () => {
  const ask = async (target: string) =>
    parseResponse(await exchange(url, `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`));

  const URI_TOO_LONG = { code: 'URI_TOO_LONG', status: 414 };
  test.each([
    ['/pets?name=', URI_TOO_LONG],
    ['/nothing/', URI_TOO_LONG],
    ['/graphql?query=', { errors: [{ extensions: URI_TOO_LONG }] }],
    ['/graphql/stream?query=', { errors: [{ extensions: URI_TOO_LONG }] }],
  ])('%s… of more than 8 KiB is 414, in the shape of its interface', async (start, expected) => {
    const { status, headers, body } = await ask(start.padEnd(8193, 'x'));
    expect(status).toBe(414);
    expect(headers['x-ratelimit-limit']).toBe('60');
    expect(JSON.parse(body)).toMatchObject(expected);
  });

  test('of 8 KiB is processed', async () => {
    expect((await ask('/pets?filter='.padEnd(8192, 'x'))).status).toBe(400);
    expect((await ask('/nothing/'.padEnd(8192, 'x'))).status).toBe(404);
  });
});

describe('a body', () => {
  const nest = (depth: number, inner = '1') => '['.repeat(depth) + inner + ']'.repeat(depth);

  test.each([
    ['of nested lists', `{"name":${nest(50_000)}}`, 400],
    ['of nested lists, with a number that must stay exact', `{"name":${nest(50_000, '12345678901234567890')}}`, 400],
    ['of nested objects', `{"name":${'{"a":'.repeat(16_000)}1${'}'.repeat(16_000)}}`, 400],
    ['with a prototype', '{"name":"Rex","categoryId":1,"__proto__":{"status":"sold"}}', 400],
    [
      'with a prototype and a number that must stay exact',
      '{"name":"Rex","categoryId":1234567890123456789,"__proto__":{"x":1}}',
      400,
    ],
    ['with a constructor', '{"name":"Rex","categoryId":1,"constructor":{"prototype":{"status":"sold"}}}', 400],
    ['that is only a prototype', '{"__proto__":null}', 400],
    ['of 6000 fields', `{${Array.from({ length: 6000 }, (_, i) => `"f${i}":1`).join(',')}}`, 400],
  ])('%s is refused by REST', async (_what, body, status) => {
    const answer = await post('/pets', body);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body)).toMatchObject({ code: expect.stringMatching(/^BAD_/), status });
    expect(answer.body.length).toBeLessThan(20_000);
    expect({}).not.toHaveProperty('status');
  });

  const PETS = 'query ($filter: PetFilter) { pets(filter: $filter) { totalCount } }';
  test.each([
    ['nested lists', `{"ids":${nest(40_000)}}`],
    ['nested objects', `{"ids":${'{"a":'.repeat(16_000)}1${'}'.repeat(16_000)}}`],
    ['a prototype', '{"__proto__":{"ids":[1]}}'],
    ['a constructor', '{"constructor":{"prototype":{"ids":[1]}}}'],
    ['20,000 wrong values', `{"ids":[${Array(20_000).fill('null').join(',')}]}`],
    ['6000 unknown fields', `{${Array.from({ length: 6000 }, (_, i) => `"f${i}":1`).join(',')}}`],
    ['a value of 90,000 characters', `{"ids":["${'x'.repeat(90_000)}"]}`],
  ])('with a variable of %s is refused by GraphQL, in bounded length and time', async (_what, filter) => {
    const text = `{"query":${JSON.stringify(PETS)},"variables":{"filter":${filter}}}`;
    let best = Number.POSITIVE_INFINITY;
    for (let i = 0; i < 5; i++) {
      const started = process.cpuUsage();
      const { status, body } = await post('/graphql', text);
      const { user, system } = process.cpuUsage(started);
      best = Math.min(best, (user + system) / 1000);
      expect(status).toBe(400);
      expect(JSON.parse(body).errors).toHaveLength(1);
      expect(body.length).toBeLessThan(20_000);
    }
    expect(best).toBeLessThan(100);
  });

  test('with an unknown member is still read by GraphQL', async () => {
    const { status, body } = await post('/graphql', '{"query":"{ __typename }","nothing":[[[1]]]}');
    expect([status, JSON.parse(body).data]).toEqual([200, { __typename: 'Query' }]);
  });
});

describe('GraphQL', () => {
  const ask = (options: object, headers: Record<string, string> = {}) =>
    gateway.app.inject({
      method: 'POST',
      url: '/graphql',
      headers: { 'content-type': 'application/json', ...headers },
      ...options,
    });
  const pets = { payload: '{"query":"{ pets { totalCount } }"}' };

  test.each(['a b', '', '[::', 'example.com:99999'])(
    'accepts the Host %j, of which no URL can be made',
    async (host) => {
      expect((await ask(pets, { host })).json()).toMatchObject({ data: { pets: { totalCount: 0 } } });
    },
  );

  test.each(['image/png', 'application/*;q=0'])('runs nothing if Accept is %j', async (accept) => {
    const payload = '{"query":"mutation { createCategory(input: { name: \\"Unseen\\" }) { id } }"}';
    const answer = await ask({ payload }, { accept });
    const extensions = { code: 'NOT_ACCEPTABLE', status: 406, requestId: answer.headers['x-request-id'] };
    expect([answer.statusCode, answer.json().errors[0].extensions]).toEqual([406, extensions]);
    const { categories } = await gateway.data('{ categories(filter: { name: "Unseen" }) { totalCount } }');
    expect(categories).toEqual({ totalCount: 0 });
  });

  test.each([
    [405, 'METHOD_NOT_ALLOWED', 'mutation { __typename }', 'application/json'],
    [415, 'UNSUPPORTED_MEDIA_TYPE', '{ __typename }', 'text/plain'],
  ])('responds to GET with %i and its code, %s', async (status, code, query, type) => {
    const answer = await ask(
      { method: 'GET', query: { query } },
      { 'content-type': type, 'x-apollo-operation-name': 'x' },
    );
    expect([answer.statusCode, answer.json().errors[0].extensions]).toMatchObject([status, { code, status }]);
  });
});
