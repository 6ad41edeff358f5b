import { fillShop } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';
import { send } from './client';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
  await fillShop(gateway.database);
});
afterAll(() => gateway.close());

describe('only GET /pets/{petId} is deprecated:', () => {
  test.each<[on: string, status: number, headers: Record<string, string>]>([
    ['GET /pets/1', 200, {}],
    ['HEAD /pets/1', 200, {}],
    ['GET /pets/1', 304, { 'if-none-match': '*' }],
    ['GET /pets/7', 404, {}],
    ['GET /pets/x', 400, {}],
    ['GET /pets/1?x=1', 400, {}],
    ['GET /pets/1', 406, { accept: 'text/html' }],
    ['GET /pets/1', 401, { 'x-api-key': 'wrong' }],
  ])('%s has the deprecation headers with status %i', async (on, status, sent) => {
    const { status: got, headers } = await send(gateway, on, undefined, sent);
    const [link] = headers.link?.split(/, (?=<\/docs\/errors)/) ?? [];
    const id = /\/pets\/(\w+)/.exec(on)?.[1];
    // Deprecation is a structured-field Date (RFC 9745), Sunset an HTTP-date (RFC 8594).
    expect([got, headers.deprecation, headers.sunset, link]).toEqual([
      ...[status, `@${Date.UTC(2026, 10, 1) / 1000}`, 'Mon, 01 Nov 2027 00:00:00 GMT'],
      `</pets?id=${id}>; rel="successor-version", </docs/rest#getPet>; rel="deprecation"; type="text/html"`,
    ]);
  });

  test('the linked successor returns the same pet', async () => {
    const pet = await send(gateway, 'GET /pets/1');
    const successor = /^<([^>]*)>; rel="successor-version"/.exec(pet.headers.link ?? '')?.[1];
    expect((await send(gateway, `GET ${successor}`)).json).toEqual([pet.json]);
  });

  test('a crafted path cannot inject headers through the link', async () => {
    const { status, headers } = await send(gateway, 'GET /pets/1%0D%0AX-Evil:%201%3E');
    expect([status, headers['x-evil']]).toEqual([400, undefined]);
    expect(headers.link).toContain('</pets?id=1%0D%0AX-Evil%3A%201%3E>; rel="successor-version"');
  });

  test.each(['GET /pets', 'PATCH /pets/1', 'GET /categories/1', 'GET /store/inventory/1'])(
    '%s is not deprecated',
    async (on) => {
      const { headers } = await send(gateway, on, on.startsWith('PATCH') ? {} : undefined);
      expect([headers.deprecation, headers.sunset, headers.link]).toEqual([undefined, undefined, undefined]);
    },
  );
});

test.each<[on: string, level: string | undefined]>([
  ['GET /store/inventory?maxQuantity=3', 'beta'],
  ['HEAD /store/inventory?maxQuantity=3', 'beta'],
  ['GET /store/inventory?maxQuantity=x', 'beta'],
  ['DELETE /store/inventory/7', 'beta'],
  ['DELETE /store/inventory/1', 'beta'],
  ['GET /store/inventory?status=sold', undefined],
  ['GET /store/inventory/1', undefined],
  ['GET /pets', undefined],
])('the header X-Stability of %s is %s', async (on, level) => {
  expect((await send(gateway, on)).headers['x-stability']).toBe(level);
});
