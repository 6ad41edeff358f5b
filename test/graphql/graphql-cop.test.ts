import type { InjectOptions } from 'fastify';
import { type Gateway, startGateway } from '../helper/gateway';

/**
 * The thirteen checks of graphql-cop (github.com/dolevf/graphql-cop, `lib/tests`). The tests send the same requests, without
 * a key, to a gateway in production mode. So the tests find every problem that graphql-cop would report.
 */
let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ NODE_ENV: 'production', ANONYMOUS_ACCESS: 'read' });
});
afterAll(() => gateway.close());

const JSON_BODY = { 'content-type': 'application/json' };
const post = (query: unknown): InjectOptions => ({
  method: 'POST',
  headers: JSON_BODY,
  payload: JSON.stringify(Array.isArray(query) ? query : { query }),
});
const get = (query: string, headers: Record<string, string> = {}): InjectOptions => ({ headers, query: { query } });

let callers = 0;

async function ask(options: InjectOptions): Promise<[status: number, text: string]> {
  // Each request has a new address, so that no request exceeds the rate limit.
  const response = await gateway.server.inject({ url: '/graphql', remoteAddress: `192.0.2.${++callers}`, ...options });
  return [response.statusCode, response.body];
}

const aliases = Array.from({ length: 101 }, (_, i) => `alias${i}:__typename`).join(' \n');
const circular =
  'query { __schema { types { fields { type { fields { type { fields { type { fields { type { name } } } } } } } } } } }';

test.each<[string, InjectOptions, number, string | RegExp]>([
  ['1. alias overloading: 101 aliases', post(`query { ${aliases} }`), 400, 'The operation has 101 root fields'],
  ['2. array batching', post(Array(10).fill({ query: 'query { __typename }' })), 400, '"code":"BAD_REQUEST"'],
  ['4. field duplication: one field 500 times', post(`query { ${'__typename \n'.repeat(500)} }`), 400, 'root fields'],
  ['5. circular introspection', post(circular), 400, 'Maximum introspection depth exceeded'],
  [
    '6. circular fragments',
    post('query { __schema { ...A } } fragment A on __Schema { __typename ...B } fragment B on __Schema { ...A }'),
    400,
    'within itself',
  ],
  ['7. mutations over GET', get('mutation { __typename }', JSON_BODY), 405, 'errors'],
  ['7. mutations over GET without a content type', get('mutation { __typename }'), 405, 'errors'],
  [
    '8. queries in forms',
    {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: 'query=query+%7B__typename%7D',
    },
    415,
    'errors',
  ],
  ['8. queries in the URL of a POST', { method: 'POST', query: { query: 'query {__typename}' } }, 400, 'errors'],
  [
    '8. queries in plain text',
    { method: 'POST', headers: { 'content-type': 'text/plain' }, payload: '{"query":"{ __typename }"}' },
    400,
    'errors',
  ],
  ['10. errors with internal details', post('qwerty cop { abc }'), 400, 'GRAPHQL_PARSE_FAILED'],
])('graphql-cop finds nothing in %s', async (_check, options, status, told) => {
  const [found, text] = await ask(options);
  expect(found).toBe(status);
  expect(text).toMatch(told);
  expect(text).not.toMatch(/"data"|exception|stacktrace|node_modules|tracing/i);
});

test('graphql-cop finds nothing in 10. tracing', async () => {
  expect((await ask(post('query { __typename }')))[1]).not.toMatch(/tracing|exception|stacktrace/i);
});

test.each<[string, InjectOptions, number, string | RegExp]>([
  [
    '3. directive overloading: the gateway reports up to 20 errors of a document',
    post('query { __typename @aa@aa@aa@aa@aa@aa@aa@aa@aa@aa }'),
    400,
    /^(?:(?!Unknown directive).)*(?:Unknown directive(?:(?!Unknown directive).)*){10}$/,
  ],
  ['9. field suggestions: the schema is public', post('query { __schema { directive } }'), 400, 'Did you mean'],
  [
    '11. introspection: the schema is public, for client tools',
    post('query { __schema { types { name fields { name } } } }'),
    200,
    /^{"data":{"__schema":{"types":\[/,
  ],
  ['12. an explorer: browsers get a page', { headers: { accept: 'text/html' } }, 200, /<html/i],
  ['13. queries over GET: they can be cached and linked', get('{__typename}'), 200, '{"data":{"__typename":"Query"}'],
  ['13. queries over GET with a content type', get('{__typename}', JSON_BODY), 200, '{"data":{"__typename":"Query"}'],
  [
    '13. queries over GET from other sites: no browser adds a key to them',
    get('{__typename}', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }),
    200,
    '{"data":{"__typename":"Query"}',
  ],
])('graphql-cop reports, as intended: %s', async (_check, options, status, told) => {
  const [found, text] = await ask(options);
  expect(found).toBe(status);
  expect(text).toMatch(told);
});
