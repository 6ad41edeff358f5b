import { gunzipSync } from 'node:zlib';
import { type Gateway, startGateway } from '../helper/gateway';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const get = (url: string, headers: Record<string, string> = {}) => gateway.app.inject({ url, headers });

describe.each(['/openapi.json', '/openapi.yaml', '/schema.graphql', '/docs'])('%s', (url) => {
  test('is compressed for clients that accept it', async () => {
    const plain = await get(url);
    const zipped = await get(url, { 'accept-encoding': 'br, gzip' });
    const refused = await get(url, { 'accept-encoding': 'gzip;q=0' });
    for (const { headers } of [plain, refused]) expect(headers).not.toHaveProperty('content-encoding');
    expect(zipped.headers['content-encoding']).toBe('gzip');
    expect(zipped.headers['content-type']).toBe(plain.headers['content-type']);
    expect(gunzipSync(zipped.rawPayload).equals(plain.rawPayload)).toBe(true);
    expect(zipped.rawPayload.length).toBeLessThan(plain.rawPayload.length / 3);
    for (const { headers } of [plain, zipped])
      expect(headers.vary).toBe('Accept, Authorization, Origin, X-API-Key, accept-encoding');
    const head = await gateway.app.inject({ method: 'HEAD', url, headers: { 'accept-encoding': 'gzip' } });
    expect([head.headers['content-length'], head.body]).toEqual([String(zipped.rawPayload.length), '']);
  });

  test('has a strong tag for each encoding, by which it is known', async () => {
    const tag = async (encoding: string) => String((await get(url, { 'accept-encoding': encoding })).headers.etag);
    const [plain, zipped] = [await tag('identity'), await tag('gzip')];
    for (const each of [plain, zipped]) expect(each).toMatch(/^"[\w-]+"$/);
    expect(plain).not.toBe(zipped);
    const status = async (encoding: string, known: string) => {
      const { statusCode, headers } = await get(url, { 'accept-encoding': encoding, 'if-none-match': known });
      return [statusCode, headers.etag, headers['content-encoding']];
    };
    expect(await status('identity', plain)).toEqual([304, plain, undefined]);
    expect(await status('gzip', zipped)).toEqual([304, zipped, undefined]);
    expect(await status('gzip', plain)).toEqual([200, zipped, 'gzip']);
    expect(await status('identity', zipped)).toEqual([200, plain, undefined]);
  });
});

test('what describes the interfaces is private to each cache, and is asked for again', async () => {
  for (const url of ['/openapi.json', '/openapi.yaml', '/schema.graphql'])
    expect((await get(url)).headers['cache-control']).toBe('private, no-cache');
  const answer = await gateway.app.inject({ method: 'PROPFIND' as never, url: '/openapi.json' });
  expect(answer.statusCode).toBe(405);
});
