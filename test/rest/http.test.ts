import { METHODS, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fillShop } from '../helper/database';
import { ADMIN_KEY, type Gateway, startGateway } from '../helper/gateway';
import { contentOf, send } from './client';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
  await fillShop(gateway.database);
});
afterAll(() => gateway.close());

const READS = [
  '/pets',
  '/pets?limit=1',
  '/pets/1',
  '/categories',
  '/categories/1',
  '/store/orders',
  '/store/orders/1',
  '/store/inventory',
  '/store/inventory/1',
  '/openapi.json',
  '/openapi.yaml',
];

describe('validators', () => {
  test.each(READS)('GET %s has a strong ETag, and responds 304 to a client that has the body', async (path) => {
    const first = await send(gateway, `GET ${path}`);
    const etag = String(first.headers.etag);
    expect(etag).toMatch(/^"[\w-]{20,}"$/);
    for (const tags of [etag, `W/${etag}`, `"a", ${etag} ,"b"`, '*']) {
      const { status, text, headers } = await send(gateway, `GET ${path}`, undefined, {
        'if-none-match': tags,
      });
      expect([status, text, headers.etag, headers.link]).toEqual([304, '', etag, first.headers.link]);
      expect(headers['content-type']).toBeUndefined();
    }
    for (const tags of ['"a"', etag.slice(1, -1), etag.toUpperCase(), '']) {
      const { status, text } = await send(gateway, `GET ${path}`, undefined, { 'if-none-match': tags });
      expect([status, text]).toEqual([200, first.text]);
    }
  });

  test('another body has another ETag', async () => {
    const tags = await Promise.all(READS.map(async (path) => (await send(gateway, `GET ${path}`)).headers.etag));
    expect(new Set(tags).size).toBe(READS.length);
    await send(gateway, 'PATCH /pets/1', { name: 'Max' });
    expect((await send(gateway, 'GET /pets/1', undefined, { 'if-none-match': String(tags[2]) })).status).toBe(200);
  });

  test('deletions and errors have none', async () => {
    const { headers } = await send(gateway, 'POST /categories', { name: 'Empty' });
    expect((await send(gateway, `DELETE ${headers.location}`)).headers.etag).toBeUndefined();
    expect(await send(gateway, 'GET /pets/7', undefined, { 'if-none-match': '*' })).toMatchObject({
      status: 404,
      headers: expect.not.objectContaining({ etag: expect.anything() }),
    });
  });
});

describe('HEAD', () => {
  test.each([...READS, '/pets/7', '/pets/x', '/pets?limit=0', '/nothing'])('%s is GET without a body', async (path) => {
    const get = await send(gateway, `GET ${path}`);
    const head = await send(gateway, `HEAD ${path}`);
    expect([head.status, head.text]).toEqual([get.status, '']);
    for (const name of ['etag', 'link', 'deprecation', 'sunset', 'content-type'])
      expect([name, head.headers[name]]).toEqual([name, get.headers[name]]);
    if (get.status === 200) expect(head.headers['content-length']).toBe(String(Buffer.byteLength(get.text)));
  });

  test('is conditional too', async () => {
    const { headers } = await send(gateway, 'HEAD /pets/1');
    expect(await send(gateway, 'HEAD /pets/1', undefined, { 'if-none-match': headers.etag })).toMatchObject({
      status: 304,
    });
  });
});

describe('methods', () => {
  const ALLOWED: Record<string, string> = {
    '/pets': 'GET, HEAD, POST, OPTIONS',
    '/pets/1': 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS',
    '/pets/x': 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS',
    '/categories': 'GET, HEAD, POST, OPTIONS',
    '/categories/1': 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS',
    '/store/orders': 'GET, HEAD, POST, OPTIONS',
    '/store/orders/1': 'GET, HEAD, PATCH, DELETE, OPTIONS',
    '/store/inventory': 'GET, HEAD, OPTIONS',
    '/store/inventory/1': 'GET, HEAD, PUT, DELETE, OPTIONS',
    '/openapi.json': 'GET, HEAD, OPTIONS',
  };
  const others = METHODS.filter((method) => method !== 'CONNECT' && method !== 'QUERY');

  test.each(Object.entries(ALLOWED))('%s allows %s, and responds 405 to all others', async (path, allow) => {
    const before = await contentOf(gateway);
    for (const method of others.filter((each) => !allow.split(', ').includes(each))) {
      const { status, headers, json } = await send(gateway, `${method} ${path}`);
      expect([method, status, headers.allow]).toEqual([method, 405, allow]);
      expect(json).toMatchObject({ code: 'METHOD_NOT_ALLOWED', status: 405 });
    }
    expect(await contentOf(gateway)).toBe(before);
  });

  test('405 comes before errors in the body', async () => {
    expect(await send(gateway, 'PUT /pets', '<pet/>', { 'content-type': 'text/xml' })).toMatchObject({
      status: 405,
    });
  });

  test.each(Object.entries(ALLOWED))('OPTIONS %s returns %s', async (path, allow) => {
    expect(await send(gateway, `OPTIONS ${path}`)).toMatchObject({
      status: 204,
      text: '',
      headers: { allow },
    });
  });

  test('OPTIONS lists the accepted patch formats', async () => {
    const { headers } = await send(gateway, 'OPTIONS /pets/1');
    expect(headers['accept-patch']).toBe('application/json, application/merge-patch+json');
    expect((await send(gateway, 'OPTIONS /pets')).headers['accept-patch']).toBeUndefined();
  });

  test('a preflight is answered for browsers', async () => {
    const { status, headers } = await send(gateway, 'OPTIONS /pets/1', undefined, {
      origin: 'https://example.com',
      'access-control-request-method': 'PATCH',
      'access-control-request-headers': 'content-type,x-api-key',
    });
    expect(status).toBe(204);
    expect(headers['access-control-allow-origin']).toBe('*');
    expect(headers['access-control-allow-methods']).toContain('PATCH');
    expect(headers['access-control-allow-headers']).toBe('content-type,x-api-key');
  });

  test('an unknown path is 404 whatever the method', async () => {
    for (const method of ['GET', 'POST', 'DELETE', 'TRACE', 'PROPFIND'])
      expect(await send(gateway, `${method} /dogs`)).toMatchObject({
        status: 404,
        json: { code: 'NOT_FOUND' },
      });
  });
});

describe('Accept', () => {
  test.each([
    '*/*',
    'application/json',
    'application/*',
    'text/html, application/json;q=0.1',
    'application/json, text/plain, */*',
    'APPLICATION/JSON',
    'application/json; charset=utf-8',
    'text/html;q=0.9,*/*;q=0.1',
    '',
  ])('%j gets JSON', async (accept) => {
    expect(await send(gateway, 'GET /pets/1', undefined, { accept })).toMatchObject({
      status: 200,
      json: { id: 1 },
    });
  });

  test.each(['text/html', 'application/xml', 'application/json;q=0', 'application/json;q=0, text/*', 'nonsense'])(
    '%j is 406, and nothing is done',
    async (accept) => {
      const before = await contentOf(gateway);
      for (const on of ['GET /pets', 'GET /pets/1', 'POST /pets', 'DELETE /pets/3', 'PUT /store/inventory/1']) {
        const body = /^P/.test(on) ? { name: 'Mia', categoryId: 1, quantity: 1 } : undefined;
        expect(await send(gateway, on, body, { accept })).toMatchObject({
          status: 406,
          json: { code: 'NOT_ACCEPTABLE', status: 406 },
        });
      }
      expect(await contentOf(gateway)).toBe(before);
    },
  );
});

describe('Content-Type', () => {
  const json = '{"name":"Mia"}';

  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'Application/JSON',
    'application/json; charset=utf8; x=y',
  ])('%s is accepted', async (type) => {
    expect(await send(gateway, 'POST /categories', json, { 'content-type': type })).toMatchObject({
      status: 201,
    });
    expect(await send(gateway, 'PATCH /pets/1', json, { 'content-type': type })).toMatchObject({
      status: 200,
    });
  });

  test.each(['application/merge-patch+json', 'application/merge-patch+json; charset=utf-8'])(
    '%s is accepted in PATCH only',
    async (type) => {
      const headers = { 'content-type': type };
      expect(await send(gateway, 'PATCH /pets/1', json, headers)).toMatchObject({ status: 200 });
      expect(await send(gateway, 'POST /categories', json, headers)).toMatchObject({ status: 415 });
      expect(await send(gateway, 'PUT /categories/1', json, headers)).toMatchObject({ status: 415 });
    },
  );

  test.each([
    undefined,
    'text/plain',
    'application/jsonx',
    'application/xml',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json-patch+json',
    'application/json; charset=utf-16',
    'application/json; charset=iso-8859-1',
    'application/merge-patch+json; charset=latin1',
    'nonsense',
    '',
  ])('%s is 415', async (type) => {
    for (const on of ['POST /pets', 'PUT /pets/1', 'PATCH /pets/1']) {
      expect(await send(gateway, on, json, { 'content-type': type })).toMatchObject({
        status: 415,
        json: { code: 'UNSUPPORTED_MEDIA_TYPE', status: 415 },
      });
    }
  });

  test('a wrong type is answered with those that the method takes', async () => {
    const wrong = { 'content-type': 'application/json-patch+json' };
    const patch = await send(gateway, 'PATCH /pets/1', json, wrong);
    expect(patch.headers['accept-patch']).toBe('application/json, application/merge-patch+json');
    expect(patch.json).toMatchObject({ message: 'The body must be application/json or application/merge-patch+json.' });
    const put = await send(gateway, 'PUT /pets/1', json, wrong);
    expect(put.headers).not.toHaveProperty('accept-patch');
    expect(put.json).toMatchObject({ message: 'The body must be application/json.' });
  });

  test('a compressed body is 415', async () => {
    expect(await send(gateway, 'POST /categories', json, { 'content-encoding': 'gzip' })).toMatchObject({
      status: 415,
    });
    expect(await send(gateway, 'POST /categories', json, { 'content-encoding': 'identity' })).toMatchObject({
      status: 201,
    });
  });

  test.each(['/pets', '/pets/1', '/graphql'])('OPTIONS %s may declare JSON without a body', async (path) => {
    const declared = await send(gateway, `OPTIONS ${path}`, '', { 'content-type': 'application/json' });
    expect(declared).toMatchObject({ status: 204, text: '' });
  });

  test('a DELETE may declare JSON without a body', async () => {
    await send(gateway, 'POST /pets', { name: 'Mia', categoryId: 1 });
    expect(await send(gateway, 'DELETE /pets/4', '', { 'content-type': 'application/json' })).toMatchObject({
      status: 204,
    });
  });

  test('a body of 100 KiB is accepted, a larger one is 413', async () => {
    const bytes = (size: number) => `{"name":"Mia"}`.padEnd(size);
    expect(await send(gateway, 'PATCH /pets/1', bytes(102_400))).toMatchObject({ status: 200 });
    expect(await send(gateway, 'PATCH /pets/1', bytes(102_401))).toMatchObject({
      status: 413,
      json: { code: 'PAYLOAD_TOO_LARGE', status: 413 },
    });
  });
});

test('on the wire: HEAD, 204 and 304 have no body, and the connection stays open', async () => {
  await gateway.server.listen({ port: 0, host: '127.0.0.1' });
  const { port } = gateway.server.server.address() as AddressInfo;
  const { Agent } = await import('node:http');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const exchange = (method: string, path: string, headers = {}) =>
    new Promise<[number | undefined, string]>((resolve, reject) => {
      const outgoing = request(
        { port, method, path, agent, headers: { 'x-api-key': ADMIN_KEY, ...headers } },
        (incoming) => {
          let text = '';
          incoming.on('data', (chunk) => {
            text += chunk;
          });
          incoming.on('end', () => resolve([incoming.statusCode, text]));
        },
      );
      outgoing.on('error', reject).end();
    });
  expect(await exchange('HEAD', '/pets')).toEqual([200, '']);
  expect(await exchange('GET', '/pets', { 'if-none-match': '*' })).toEqual([304, '']);
  expect(await exchange('DELETE', '/pets/3')).toEqual([204, '']);
  expect(await exchange('OPTIONS', '/pets')).toEqual([204, '']);
  expect((await exchange('GET', '/pets/1'))[1]).toMatch(/^\{"id":1,/);
  agent.destroy();
});
