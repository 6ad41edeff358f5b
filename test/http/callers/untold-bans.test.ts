import { type Gateway, startGateway, type TestKey } from '../../helper/gateway';
import { toldBy } from '../../helper/standing';
import { exchange } from '../../helper/wire';

const ADDRESS = '192.0.2.9';

let gateway: Gateway;
let key: TestKey;
beforeAll(async () => {
  gateway = await startGateway({ BAN_AFTER: '2' });
  key = await gateway.createKey();
  const ask = () => gateway.graphql('{ pets { totalCount } }', {}, { 'x-api-key': undefined }, ADDRESS);
  for (let i = 0; i < 63; i++) await ask();
  expect((await ask()).errors[0]?.extensions?.code).toBe('KEY_BANNED');
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => gateway.close());

const from = (instance: Gateway, url: string, headers: object) =>
  instance.server.inject({ url, headers: { ...headers }, remoteAddress: ADDRESS });

describe('the ban of an address is not told to a key that is used there', () => {
  test.each(['/pets', '/openapi.json', '/docs/rest', '/livez', '/nothing'])('at %s', async (url) => {
    const { statusCode, headers } = await from(gateway, url, key.headers);
    expect([statusCode, toldBy(headers).retryAfter]).toEqual([url === '/nothing' ? 404 : 200, undefined]);
  });

  test('while keys cannot be looked up', async () => {
    const other = await gateway.createKey();
    const down = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    jest.spyOn(gateway.database.prisma.apiKey, 'findUnique').mockRejectedValue(down as never);
    const { statusCode, headers } = await from(gateway, '/pets', other.headers);
    expect([statusCode, toldBy(headers)]).toMatchObject([503, { remaining: 60, retryAfter: 5 }]);
    const page = await from(gateway, '/openapi.json', other.headers);
    expect(page.statusCode).toBe(200);
    const { statusCode: anonymous } = await from(gateway, '/pets', {});
    expect(anonymous).toBe(429);
  });

  test('under overload, when none is looked up', async () => {
    const busy = await gateway.another({ MAX_EVENT_LOOP_LAG_MS: '10' });
    const ban = Array.from({ length: 63 }, () => from(busy, '/pets', {}));
    await Promise.all(ban);
    const end = performance.now() + 1500;
    let told: [number, number | undefined] | undefined;
    while (told?.[0] !== 503 && performance.now() < end) {
      const until = performance.now() + 120;
      while (performance.now() < until);
      await new Promise(setImmediate);
      const { statusCode, headers } = await from(busy, '/pets', key.headers);
      told = [statusCode, toldBy(headers).retryAfter];
    }
    expect(told).toEqual([503, 5]);
    await busy.server.close();
  });
});

test('a broken body counts against the key that it came with', async () => {
  const url = await gateway.listen();
  const { whole, headers } = await gateway.createKey();
  await gateway.server.inject({ url: '/rate_limit', headers });
  const head = `Host: localhost\r\nContent-Type: application/json\r\nX-API-Key: ${whole}\r\nTransfer-Encoding: chunked`;
  const received = await exchange(url, `POST /pets HTTP/1.1\r\n${head}\r\n\r\nzz\r\n`);
  expect(received).toMatch(/^HTTP\/1\.1 400 /);
  const { headers: told } = await gateway.server.inject({ url: '/rate_limit', headers });
  expect(toldBy(told).remaining).toBe(59);
});

test('a request that is answered gets no second answer for the rest of its body', async () => {
  const url = gateway.server.listeningOrigin;
  const { whole, headers } = await gateway.createKey({ scopes: ['READ'] });
  // Looked up already, it is refused before its body is read.
  await gateway.server.inject({ url: '/rate_limit', headers });
  const head = `Host: localhost\r\nContent-Type: application/json\r\nX-API-Key: ${whole}\r\nTransfer-Encoding: chunked`;
  const received = await exchange(url, `POST /pets HTTP/1.1\r\n${head}\r\n\r\nzz\r\n`);
  expect(received.match(/^HTTP\/1\.1 \d+/gm)).toEqual(['HTTP/1.1 403']);
});
