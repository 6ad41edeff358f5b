import type { LightMyRequestResponse as Response } from 'fastify';
import { type Gateway, startGateway } from '../../helper/gateway';

/** Refusals of every kind at /graphql, by whatever refuses them, in the media type that the client asks for. */

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ MAX_REQUESTS_IN_PROGRESS: '1', ANONYMOUS_ACCESS: 'read' });
});
afterAll(() => gateway.close());

interface Asked {
  readonly method?: 'GET' | 'POST' | 'PUT';
  readonly path?: string;
  readonly body?: string | object;
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

const DOCUMENTS: [name: string, asked: Asked, status: number, code: string][] = [
  ['a syntax error', { body: { query: '{ pets {' } }, 400, 'GRAPHQL_PARSE_FAILED'],
  ['an unknown field', { body: { query: '{ colours }' } }, 400, 'GRAPHQL_VALIDATION_FAILED'],
  [
    'a variable of another type',
    { body: { query: 'query ($id: ID!) { pet(id: $id) { id } }', variables: { id: 'x' } } },
    400,
    'BAD_USER_INPUT',
  ],
  ['an unknown field in a URL', { method: 'GET', path: '/graphql?query={colours}' }, 400, 'GRAPHQL_VALIDATION_FAILED'],
];

const PETS = { query: '{ pets { totalCount } }' };
const CREATE = { query: 'mutation { createCategory(input: { name: "A" }) { id } }' };

const REFUSALS: [name: string, asked: Asked, status: number, code: string][] = [
  ['malformed JSON', { body: '{' }, 400, 'BAD_REQUEST'],
  ['no JSON', { body: 'query', headers: { 'content-type': 'text/xml' } }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['a compressed body', { body: PETS, headers: { 'content-encoding': 'gzip' } }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['a body that is too large', { body: { query: ' '.repeat(110_000) } }, 413, 'PAYLOAD_TOO_LARGE'],
  ['no document', { body: {} }, 400, 'BAD_REQUEST'],
  ['a batch', { body: [PETS] }, 400, 'BAD_REQUEST'],
  ['a form of another site', { body: 'x', headers: { 'content-type': 'text/plain' } }, 400, 'BAD_REQUEST'],
  ['an unknown id', { body: { documentId: 'x' } }, 404, 'PERSISTED_QUERY_NOT_IN_LIST'],
  ['a URL that cannot be decoded', { method: 'GET', path: '/graphql?query=%' }, 400, 'BAD_REQUEST'],
  ['a long URL', { method: 'GET', path: `/graphql?query=${'x'.repeat(9000)}` }, 414, 'URI_TOO_LONG'],
  ['a method', { method: 'PUT', body: PETS }, 405, 'METHOD_NOT_ALLOWED'],
  ['a mutation in a URL', { method: 'GET', path: `/graphql?query=${CREATE.query}` }, 405, 'METHOD_NOT_ALLOWED'],
  ['a wrong key', { body: PETS, headers: { 'x-api-key': 'wrong' } }, 401, 'UNAUTHENTICATED'],
  ['a missing scope', { body: CREATE, headers: { 'x-api-key': undefined } }, 401, 'UNAUTHENTICATED'],
  ['a subscription', { body: { query: 'subscription { petChanged { kind } }' } }, 400, 'BAD_REQUEST'],
];

const JSON_TYPE = 'application/json; charset=utf-8';
const RESPONSE_TYPE = 'application/graphql-response+json; charset=utf-8';

/** What clients accept, and the type that each of them gets. */
const ACCEPTS: [accept: string | undefined, type: string][] = [
  ['application/json', JSON_TYPE],
  ['application/graphql-response+json', RESPONSE_TYPE],
  // Apollo Client 4, and urql.
  ['application/graphql-response+json,application/json;q=0.9', RESPONSE_TYPE],
  [
    'application/graphql-response+json, application/graphql+json, application/json, text/event-stream, */*',
    RESPONSE_TYPE,
  ],
  ['application/json, application/graphql-response+json;q=0.9', JSON_TYPE],
  [undefined, JSON_TYPE],
];

function ask({ method = 'POST', path = '/graphql', body, headers }: Asked, accept: string | undefined) {
  return gateway.app.inject({
    method,
    url: path,
    headers: { 'content-type': 'application/json', accept, ...headers } as Record<string, string>,
    ...(body !== undefined && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
}

/** A refusal: its status and type, and the code of its only error. */
function told(response: Response) {
  const { errors } = response.json();
  expect(errors).toHaveLength(1);
  const [{ message, extensions }] = errors;
  expect([message, extensions.requestId]).toEqual([expect.stringMatching(/\w/), response.headers['x-request-id']]);
  return [response.statusCode, response.headers['content-type'], extensions.code];
}

describe.each(ACCEPTS)('Accept: %s', (accept, type) => {
  test.each(REFUSALS)('a refusal of %s', async (_name, asked, status, code) => {
    expect(told(await ask(asked, accept))).toEqual([status, type, code]);
  });

  test.each(DOCUMENTS)('%s: 200 only for those who take application/json alone', async (_name, asked, status, code) => {
    expect(told(await ask(asked, accept))).toEqual([accept === 'application/json' ? 200 : status, type, code]);
  });

  test('a scope that the key lacks', async () => {
    const { headers } = await gateway.createKey({ scopes: ['READ'] });
    expect(told(await ask({ body: CREATE, headers }, accept))).toEqual([403, type, 'FORBIDDEN']);
  });

  test('a caller over its limit, whatever it asks, and then banned', async () => {
    const { headers } = await gateway.createKey({ plan: 'ENTERPRISE', perMinute: 1, perDay: 100 });
    await ask({ body: PETS, headers }, accept);
    for (const body of [PETS, '{', { query: '{ colours }' }])
      expect(told(await ask({ body, headers }, accept))).toEqual([429, type, 'RATE_LIMITED']);
    for (let i = 0; i < 17; i++) await ask({ body: PETS, headers }, accept);
    expect(told(await ask({ body: PETS, headers }, accept))).toEqual([429, type, 'KEY_BANNED']);
  });

  test('an overloaded server', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => ask({ body: PETS }, accept)));
    const refused = answers.filter(({ statusCode }) => statusCode !== 200);
    expect(refused.length).toBeGreaterThan(0);
    for (const each of refused) expect(told(each)).toEqual([503, type, 'SERVICE_UNAVAILABLE']);
  });

  test('a refusal at /graphql/stream', async () => {
    const streams = accept && `${accept}, text/event-stream`;
    const wrong = { path: '/graphql/stream', body: PETS, headers: { 'x-api-key': 'wrong' } };
    expect(told(await ask(wrong, streams))).toEqual([401, type, 'UNAUTHENTICATED']);
    const invalid = { path: '/graphql/stream', body: { query: 'subscription { colours }' } };
    const [, itsType] = told(await ask(invalid, streams));
    expect(itsType).toBe(type);
  });
});

test('a type that is none of these is refused as JSON', async () => {
  expect(told(await ask({ body: PETS }, 'text/csv'))).toEqual([406, JSON_TYPE, 'NOT_ACCEPTABLE']);
  expect(told(await ask({ body: '{' }, 'text/csv'))).toEqual([400, JSON_TYPE, 'BAD_REQUEST']);
});
