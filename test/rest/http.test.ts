import { METHODS } from 'node:http';
import { everyRow, fillShop } from '../helper/database';
import { ADMIN_KEY, type Gateway, startGateway } from '../helper/gateway';
import { exchange } from '../helper/wire';
import { send } from './client';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
  await fillShop(gateway.database);
});
afterAll(() => gateway.close());

const JSON_OR_PATCH = 'application/json, application/merge-patch+json';

describe('HEAD', () => {
  test.each([
    ...['/pets', '/pets?limit=1', '/pets/1', '/store/inventory', '/openapi.json', '/openapi.yaml'],
    ...['/pets/7', '/pets/x', '/pets?limit=0', '/nothing'],
  ])('%s has the status and headers of GET, without a body', async (path) => {
    const get = await send(gateway, `GET ${path}`);
    const head = await send(gateway, `HEAD ${path}`);
    expect([head.status, head.text]).toEqual([get.status, '']);
    for (const name of ['etag', 'link', 'deprecation', 'sunset', 'content-type'])
      expect([name, head.headers[name]]).toEqual([name, get.headers[name]]);
    if (get.status === 200) expect(head.headers['content-length']).toBe(String(Buffer.byteLength(get.text)));
  });
});

describe('methods', () => {
  const OTHERS = METHODS.filter((method) => method !== 'CONNECT' && method !== 'QUERY');

  test.each([
    ['/pets', 'GET, HEAD, POST, OPTIONS', undefined],
    ['/pets/1', 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS', JSON_OR_PATCH],
    ['/pets/x', 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS', JSON_OR_PATCH],
    ['/categories', 'GET, HEAD, POST, OPTIONS', undefined],
    ['/categories/1', 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS', JSON_OR_PATCH],
    ['/store/orders', 'GET, HEAD, POST, OPTIONS', undefined],
    ['/store/orders/1', 'GET, HEAD, PATCH, DELETE, OPTIONS', JSON_OR_PATCH],
    ['/store/inventory', 'GET, HEAD, OPTIONS', undefined],
    ['/store/inventory/1', 'GET, HEAD, PUT, DELETE, OPTIONS', undefined],
    ['/openapi.json', 'GET, HEAD, OPTIONS', undefined],
  ])('%s: OPTIONS lists %s, and any other method gets 405', async (path, allow, patches) => {
    const before = await everyRow(gateway.database);
    const options = await send(gateway, `OPTIONS ${path}`);
    expect([options.status, options.text, options.headers.allow]).toEqual([204, '', allow]);
    expect(options.headers['accept-patch']).toBe(patches);
    for (const method of OTHERS.filter((each) => !allow.split(', ').includes(each)))
      expect({ method, ...(await send(gateway, `${method} ${path}`)) }).toMatchObject({
        ...{ method, status: 405, headers: { allow } },
        json: { code: 'METHOD_NOT_ALLOWED', status: 405 },
      });
    expect(await everyRow(gateway.database)).toBe(before);
  });

  test('an unsupported method gets 405 even if the body is invalid; an unknown path gets 404 for any method', async () => {
    expect((await send(gateway, 'PUT /pets', '<pet/>', { 'content-type': 'text/xml' })).status).toBe(405);
    for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'])
      expect(await send(gateway, `${method} /dogs`)).toMatchObject({ status: 404, json: { code: 'NOT_FOUND' } });
  });

  test.each([
    ['/pets/1', 'PATCH'],
    ['/graphql', 'POST'],
    ['/graphql/stream', 'POST'],
    ['/events', 'GET'],
  ])('a CORS preflight of %s gets the allowed origin, methods and headers, for two hours', async (path, method) => {
    const { status, headers } = await send(gateway, `OPTIONS ${path}`, undefined, {
      origin: 'https://example.com',
      'access-control-request-method': method,
      'access-control-request-headers': 'content-type,x-api-key',
    });
    expect([status, headers['access-control-allow-origin']]).toEqual([204, '*']);
    expect(headers['access-control-allow-methods']).toContain(method);
    expect(headers['access-control-allow-headers']).toBe('content-type,x-api-key');
    expect(headers['access-control-max-age']).toBe('7200');
  });
});

describe('Accept', () => {
  test.each([
    ...['*/*', 'application/json', 'application/*', 'text/html, application/json;q=0.1', 'APPLICATION/JSON', ''],
    ...['application/json, text/plain, */*', 'application/json; charset=utf-8', 'text/html;q=0.9,*/*;q=0.1'],
  ])('%j gets JSON', async (accept) => {
    expect(await send(gateway, 'GET /pets/1', undefined, { accept })).toMatchObject({ status: 200, json: { id: 1 } });
  });

  test.each(['text/html', 'application/xml', 'application/json;q=0', 'application/json;q=0, text/*', 'nonsense'])(
    '%j gets 406, and nothing is changed',
    async (accept) => {
      const before = await everyRow(gateway.database);
      for (const on of ['GET /pets', 'GET /pets/1', 'POST /pets', 'DELETE /pets/3', 'PUT /store/inventory/1']) {
        const body = /^P/.test(on) ? { name: 'Mia', categoryId: 1, quantity: 1 } : undefined;
        const { status, json } = await send(gateway, on, body, { accept });
        expect([on, status, json]).toEqual([on, 406, expect.objectContaining({ code: 'NOT_ACCEPTABLE', status: 406 })]);
      }
      expect(await everyRow(gateway.database)).toBe(before);
    },
  );
});

describe('Content-Type', () => {
  const typed = (on: string, type: string | undefined) => send(gateway, on, '{"name":"Mia"}', { 'content-type': type });

  test.each([
    ...['application/json', 'application/json; charset=utf-8', 'application/json;charset="UTF-8"', 'Application/JSON'],
    'application/json; charset=utf8; x=y',
  ])('%s is accepted', async (type) => {
    expect((await typed('POST /categories', type)).status).toBe(201);
    expect((await typed('PATCH /pets/1', type)).status).toBe(200);
  });

  test.each(['application/merge-patch+json', 'application/merge-patch+json; charset=utf-8'])(
    '%s is accepted in PATCH only',
    async (type) => {
      expect((await typed('PATCH /pets/1', type)).status).toBe(200);
      expect((await typed('POST /categories', type)).status).toBe(415);
      expect((await typed('PUT /categories/1', type)).status).toBe(415);
    },
  );

  test.each([
    ...[undefined, 'text/plain', 'application/jsonx', 'application/xml', 'application/x-www-form-urlencoded', ''],
    ...['multipart/form-data; boundary=x', 'application/json-patch+json', 'application/json; charset=utf-16'],
    ...['application/json; charset=iso-8859-1', 'application/merge-patch+json; charset=latin1', 'nonsense'],
  ])('%s gets 415', async (type) => {
    for (const on of ['POST /pets', 'PUT /pets/1', 'PATCH /pets/1'])
      expect(await typed(on, type)).toMatchObject({ status: 415, json: { code: 'UNSUPPORTED_MEDIA_TYPE' } });
  });

  test('a 415 response lists the accepted types', async () => {
    const patch = await typed('PATCH /pets/1', 'application/json-patch+json');
    expect(patch.headers['accept-patch']).toBe(JSON_OR_PATCH);
    expect(patch.json).toMatchObject({ message: 'The body must be application/json or application/merge-patch+json.' });
    const put = await typed('PUT /pets/1', 'application/json-patch+json');
    expect(put.headers).not.toHaveProperty('accept-patch');
    expect(put.json).toMatchObject({ message: 'The body must be application/json.' });
  });

  test.each(['OPTIONS /pets', 'OPTIONS /pets/1', 'OPTIONS /graphql', 'DELETE /pets/2'])(
    '%s is accepted with Content-Type: application/json and no body',
    async (on) => {
      const declared = await send(gateway, on, '', { 'content-type': 'application/json' });
      expect(declared).toMatchObject({ status: 204, text: '' });
    },
  );

  test.each([
    ...[
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/xml',
      'application/octet-stream',
      'nonsense',
      '',
    ],
    ...['multipart/form-data; boundary=x', 'application/json; charset=utf-16', 'application/merge-patch+json'],
  ])('DELETE and OPTIONS accept Content-Type: %s, with and without a body, and ignore the body', async (type) => {
    for (const on of ['DELETE /pets/99', 'OPTIONS /pets', 'OPTIONS /graphql'])
      for (const body of [undefined, '', '{', 'x'.repeat(200_000)])
        expect([on, (await send(gateway, on, body, { 'content-type': type })).status]).toEqual([
          on,
          on.startsWith('DELETE') ? 404 : 204,
        ]);
  });

  test('DELETE without a body deletes an existing object, regardless of the Content-Type', async () => {
    await fillShop(gateway.database);
    const paths = ['/store/orders/1', '/store/inventory/1', '/pets/3', '/categories/2'];
    for (const path of paths) {
      const deleted = await send(gateway, `DELETE ${path}`, undefined, { 'content-type': 'text/plain' });
      expect([path, deleted.status, deleted.text]).toEqual([path, 204, '']);
      expect((await send(gateway, `DELETE ${path}`)).status).toBe(404);
    }
    await fillShop(gateway.database);
  });

  test('a body of 100 KiB is accepted, and a larger body gets 413', async () => {
    const change = (size: number) => send(gateway, 'PATCH /pets/1', '{"name":"Mia"}'.padEnd(size));
    expect((await change(102_400)).status).toBe(200);
    expect(await change(102_401)).toMatchObject({ status: 413, json: { code: 'PAYLOAD_TOO_LARGE', status: 413 } });
  });
});

test('responses to HEAD, and responses with 204 or 304, have no body, and the connection stays open', async () => {
  const listening = await gateway.another();
  const lines = ['HEAD /pets', 'GET /pets', 'DELETE /pets/3', 'OPTIONS /pets', 'GET /pets/1'];
  const requests = lines.map((line, i) =>
    [
      `${line} HTTP/1.1`,
      'Host: localhost',
      `X-API-Key: ${ADMIN_KEY}`,
      i === 1 ? 'If-None-Match: *' : 'A: b',
      '',
      '',
    ].join('\r\n'),
  );
  const received = await exchange(await listening.listen(), requests.join(''));
  await listening.close();
  const answers = received.split('HTTP/1.1 ').slice(1);
  expect(answers.map((answer) => [answer.slice(0, 3), answer.split('\r\n\r\n')[1]])).toEqual([
    ...[
      ['200', ''],
      ['304', ''],
      ['204', ''],
      ['204', ''],
    ],
    ['200', expect.stringMatching(/^\{"id":1,/)],
  ]);
});
