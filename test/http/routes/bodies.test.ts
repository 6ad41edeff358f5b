import { gzipSync } from 'node:zlib';
import { type Gateway, startGateway } from '../../helper/gateway';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const MUTATION =
  '{"query":"mutation ($name: String!) { createCategory(input: { name: $name }) { name } }","variables":{"name":"Müsli"}}';

describe.each([
  ['/categories', '{"name":"Müsli"}', '*/*'],
  ['/graphql', MUTATION, '*/*'],
  ['/graphql/stream', MUTATION, 'text/event-stream'],
])('POST %s', (url, text, accept) => {
  const post = (payload: string | Buffer, headers: Record<string, string> = {}) =>
    gateway.app.inject({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json', accept, ...headers },
      payload,
    });

  test.each<[string, string, Record<string, string>]>([
    ['in UTF-8', text, {}],
    ['after a byte order mark', `\ufeff${text}`, {}],
    ['whose type specifies UTF-8', text, { 'content-type': 'application/json; charset="UTF-8"' }],
    ['marked as not compressed', text, { 'content-encoding': 'identity' }],
  ])('reads a body %s', async (_what, payload, headers) => {
    const { statusCode, body } = await post(payload, headers);
    expect([200, 201]).toContain(statusCode);
    expect(body).toContain('"name":"Müsli"');
  });

  const LATIN1 = Buffer.from(text, 'latin1');
  const UTF16 = Buffer.from(text, 'utf16le');
  test.each<[string, string | Buffer, Record<string, string>, number, string]>([
    ['not in UTF-8', LATIN1, {}, 400, 'The body is not valid UTF-8.'],
    [
      'cut inside a character',
      Buffer.from(text).subarray(0, text.indexOf('ü') + 1),
      {},
      400,
      'The body is not valid UTF-8.',
    ],
    [
      'in Latin-1, as its type says',
      LATIN1,
      { 'content-type': 'application/json; charset=latin1' },
      415,
      'The body must be in UTF-8.',
    ],
    [
      'in UTF-16, as its type says',
      UTF16,
      { 'content-type': 'application/json;charset=utf-16' },
      415,
      'The body must be in UTF-8.',
    ],
    ['that is compressed', gzipSync(text), { 'content-encoding': 'gzip' }, 415, 'The body must not be compressed.'],
    ['of XML', text, { 'content-type': 'text/xml' }, 415, 'The body must be application/json.'],
    ['that is empty', '', {}, 400, 'The body must not be empty.'],
  ])('refuses a body %s', async (_what, payload, headers, status, message) => {
    const answer = await post(payload, headers);
    const json = answer.json();
    const problem = json.errors ? { ...json.errors[0].extensions, message: json.errors[0].message } : json;
    const code = status === 415 ? 'UNSUPPORTED_MEDIA_TYPE' : 'BAD_REQUEST';
    expect([answer.statusCode, problem]).toEqual([
      status,
      { code, message, status, requestId: answer.headers['x-request-id'] },
    ]);
  });
});

test.each([
  ['/categories', 415],
  ['/graphql/stream', 415],
  ['/graphql', 400],
])('POST %s refuses plain text, which any page can send, with %i', async (url, status) => {
  const payload = '{"query":"{ __typename }"}';
  const { statusCode, body } = await gateway.app.inject({
    method: 'POST',
    url,
    headers: { 'content-type': 'text/plain', accept: '*/*' },
    payload,
  });
  expect(statusCode).toBe(status);
  if (url === '/graphql') expect(body).toContain('CSRF');
});
