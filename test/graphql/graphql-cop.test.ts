import type { InjectOptions } from 'fastify';
import { type Gateway, type Json, startGateway } from '../helper/gateway';

/**
 * The thirteen checks of graphql-cop (github.com/dolevf/graphql-cop, `lib/tests`), sent as it sends them, without a key, to a
 * service in production. A check here finds what graphql-cop would report.
 */
let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ NODE_ENV: 'production', ANONYMOUS_ACCESS: 'read' });
});
afterAll(() => gateway.close());

interface Answer {
  status: number;
  text: string;
  json: { readonly data?: Json; readonly errors: readonly Json[] };
}

let callers = 0;

async function ask(method: 'GET' | 'POST', headers: Record<string, string>, rest: InjectOptions): Promise<Answer> {
  // Each check is a separate caller, so that the limiter does not answer.
  const remoteAddress = `192.0.2.${++callers}`;
  const response = await gateway.server.inject({ method, url: '/graphql', remoteAddress, headers, ...rest });
  const isJson = String(response.headers['content-type']).includes('json');
  return {
    status: response.statusCode,
    text: response.body,
    json: isJson ? response.json() : { errors: [] },
  };
}

const JSON_BODY = { 'content-type': 'application/json' };
const post = (query: string) => ask('POST', JSON_BODY, { payload: JSON.stringify({ query }) });
const get = (query: string, headers: Record<string, string> = {}) => ask('GET', headers, { query: { query } });

describe('graphql-cop finds nothing in', () => {
  test('1. alias overloading: 101 aliases', async () => {
    const { status, json } = await post(
      `query { ${Array.from({ length: 101 }, (_, i) => `alias${i}:__typename`).join(' \n')} }`,
    );
    expect(status).toBe(400);
    expect(json.data?.alias100).toBeUndefined();
  });

  test('2. array batching', async () => {
    const batch = Array(10).fill({ query: 'query { __typename }' });
    const { status, json } = await ask('POST', JSON_BODY, { payload: JSON.stringify(batch) });
    expect([status, Array.isArray(json)]).toEqual([400, false]);
    expect(json.errors[0]?.extensions).toMatchObject({
      code: 'BAD_REQUEST',
      status: 400,
      requestId: expect.any(String),
    });
  });

  test('3. directive overloading: ten on one field, each reported', async () => {
    const { status, json } = await post('query { __typename @aa@aa@aa@aa@aa@aa@aa@aa@aa@aa }');
    expect([status, json.errors.length]).toEqual([400, 1]);
    expect(json.errors[0]?.message).toBe('One place has 10 directives; at most 5 are allowed.');
  });

  test('4. field duplication: one field 500 times', async () => {
    const { status, json } = await post(`query { ${'__typename \n'.repeat(500)} }`);
    expect([status, json.data]).toEqual([400, undefined]);
  });

  test('5. circular introspection', async () => {
    const { status, json } = await post(
      'query { __schema { types { fields { type { fields { type { fields { type { fields { type { name } } } } } } } } } } }',
    );
    expect([status, json.data]).toEqual([400, undefined]);
  });

  test('6. circular fragments', async () => {
    const { status, json } = await post(
      'query { __schema { ...A } } fragment A on __Schema { __typename ...B } fragment B on __Schema { ...A }',
    );
    expect([status, json.data]).toEqual([400, undefined]);
    expect(json.errors[0]?.message).toMatch(/within itself/);
  });

  test('7. mutations over GET', async () => {
    for (const headers of [{}, JSON_BODY]) {
      const { status, json } = await get('mutation { __typename }', headers);
      expect([400, 405]).toContain(status);
      expect(json.data).toBeUndefined();
    }
  });

  test('8. queries in non-JSON bodies', async () => {
    const { status, json } = await ask(
      'POST',
      { 'content-type': 'application/x-www-form-urlencoded' },
      { payload: 'query=query+%7B__typename%7D' },
    );
    expect([status, json.data]).toEqual([415, undefined]);
    const inUrl = await ask('POST', {}, { query: { query: 'query {__typename}' } });
    expect([inUrl.status, inUrl.json.data]).toEqual([400, undefined]);
    const asText = await ask('POST', { 'content-type': 'text/plain' }, { payload: '{"query":"{ __typename }"}' });
    expect([asText.status >= 400, asText.json.data]).toEqual([true, undefined]);
  });

  test('10. tracing, and errors with internal details', async () => {
    expect((await post('query { __typename }')).text).not.toMatch(/tracing|exception|stacktrace/i);
    const { status, text, json } = await post('qwerty cop { abc }');
    expect([status, json.errors[0]?.extensions?.code]).toEqual([400, 'GRAPHQL_PARSE_FAILED']);
    expect(text).not.toMatch(/exception|stacktrace|node_modules/i);
  });
});

describe('graphql-cop reports, as intended:', () => {
  test('9. field suggestions: the schema is public', async () => {
    const { status, text } = await post('query { __schema { directive } }');
    expect(status).toBe(400);
    expect(text).toContain('Did you mean');
  });

  test('11. introspection: the schema is public, and client tools read it', async () => {
    const { status, json } = await post('query { __schema { types { name fields { name } } } }');
    expect([status, Number(json.data?.__schema?.types?.length) > 25]).toEqual([200, true]);
  });

  test('12. an explorer: browsers get one', async () => {
    const { status, text } = await ask('GET', { accept: 'text/html' }, {});
    expect(status).toBe(200);
    expect(text).toMatch(/<html/i);
  });

  test('13. queries over GET: they can be cached and linked, and other sites cannot send them unasked', async () => {
    for (const headers of [{}, JSON_BODY]) {
      const { status, json } = await get('{__typename}', headers);
      expect([status, json.data]).toEqual([200, { __typename: 'Query' }]);
    }
    const unasked = await get('{__typename}', {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'no-cors',
    });
    expect([unasked.status, unasked.json.data]).toEqual([400, undefined]);
    expect(unasked.json.errors[0]).toMatchObject({
      message: expect.stringContaining('Cross-Site Request Forgery'),
      extensions: { code: 'BAD_REQUEST', status: 400, requestId: expect.any(String) },
    });
  });
});
