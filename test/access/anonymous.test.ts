import { once } from 'node:events';
import { GRAPHQL_TRANSPORT_WS_PROTOCOL } from 'graphql-ws';
import { WebSocket } from 'ws';
import { type Gateway, startGateway } from '../helper/gateway';
import { exchange } from '../helper/wire';

const SHOP = 'https://shop.example';

let clock = 1_800_000_000_000;
let gateway: Gateway;
let behindProxy: Gateway;
let url: string;
beforeAll(async () => {
  gateway = await startGateway({ CORS_ORIGINS: `${SHOP},*` }, () => clock);
  behindProxy = await gateway.another({ TRUST_PROXY: '1' }, () => clock);
  url = await gateway.listen();
});
beforeEach(() => {
  // Starts a new minute, so that each test has an unused quota.
  clock += 60_000;
});
afterAll(async () => {
  await behindProxy.close();
  await gateway.close();
});

const WRITE = 'mutation { createCategory(input: { name: "Dogs" }) { id } }';

/** @returns the access of a caller with these headers. Expects GraphQL and REST to grant the same access. */
async function access(instance: Gateway, headers: Record<string, string> = {}): Promise<string> {
  const anonymous = { 'x-api-key': undefined, ...headers };
  const operations = ['{ pets { totalCount } }', WRITE].map((query) => instance.graphql(query, undefined, anonymous));
  const graphql = (await Promise.all(operations)).map(({ status }) => status === 200);
  const read = await instance.server.inject({ url: '/pets', headers });
  const write = await instance.server.inject({
    method: 'POST',
    url: '/categories',
    headers: { 'content-type': 'application/json', ...headers },
    payload: '{"name":"Cats"}',
  });
  expect([read.statusCode === 200, write.statusCode === 201]).toEqual(graphql);
  expect([200, 201, 401]).toEqual(expect.arrayContaining([read.statusCode, write.statusCode]));
  return graphql[1] ? 'write' : graphql[0] ? 'read' : 'none';
}

test.each<[Record<string, string>, 'none' | 'read' | 'write']>([
  [{}, 'read'],
  [{ HOST: 'localhost' }, 'read'],
  [{ HOST: '::1' }, 'read'],
  [{ HOST: '0.0.0.0' }, 'read'],
  [{ NODE_ENV: 'development' }, 'read'],
  [{ DATABASE_URL: 'postgresql://127.0.0.1/petstore' }, 'read'],
  [{ CORS_ORIGINS: 'http://localhost:5173' }, 'read'],
  [{ ANONYMOUS_ACCESS: 'none' }, 'none'],
  [{ ANONYMOUS_ACCESS: 'write' }, 'write'],
])('with the environment %j, anonymous callers have the access %s', async (environment, expected) => {
  const instance = await gateway.another(environment);
  expect(await access(instance)).toBe(expected);
  await instance.close();
});

const HERE = { host: '127.0.0.1:4000' };

/** Requests that seem to come from this machine, or do. */
const LOCAL: [name: string, headers: Record<string, string>][] = [
  ['to 127.0.0.1, as a proxy on this machine sends it', HERE],
  ['to localhost', { host: 'localhost:4000' }],
  ['to a subdomain of localhost', { host: 'shop.localhost:4000' }],
  ['to the IPv6 loopback address', { host: '[::1]:4000' }],
  ['from a page of the gateway itself', { ...HERE, origin: 'http://127.0.0.1:4000', 'sec-fetch-site': 'same-origin' }],
  ['from a page on another local port', { ...HERE, origin: 'http://localhost:5173' }],
  ['from an origin in CORS_ORIGINS', { ...HERE, origin: SHOP }],
  ['forwarded for 127.0.0.1', { ...HERE, 'x-forwarded-for': '127.0.0.1', 'x-forwarded-host': 'localhost' }],
];

test.each([
  ...LOCAL,
  ['to a public name', { host: 'shop.example' }],
  ['from a page of another site', { ...HERE, origin: 'https://evil.example' }],
  ['from a page of a DNS rebinding attack', { host: 'evil.example:4000', origin: 'http://evil.example:4000' }],
  ['from a sandboxed page or a file', { ...HERE, origin: 'null' }],
] satisfies typeof LOCAL)('an anonymous request %s may only read', async (_name, headers) => {
  for (const instance of [gateway, behindProxy]) expect(await access(instance, headers)).toBe('read');
});

test('an anonymous HTTP/1.0 request may only read, with or without a Host header', async () => {
  const body = '{"name":"Cats"}';
  const head = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  for (const host of ['', 'Host: localhost\r\n'])
    expect(await exchange(url, `POST /categories HTTP/1.0\r\n${host}${head}\r\n${body}`)).toMatch(/^HTTP\/1\.1 401 /);
});

test('with ANONYMOUS_ACCESS=write or a key, a caller may write from any host and origin', async () => {
  const open = await gateway.another({ ANONYMOUS_ACCESS: 'write' });
  const elsewhere = { host: 'shop.example', origin: 'https://evil.example' };
  expect(await access(open, elsewhere)).toBe('write');
  await open.close();
  const { headers } = await gateway.createKey();
  expect(await access(gateway, { ...elsewhere, ...headers })).toBe('write');
});

test.each([['from a program', {}], ...LOCAL] satisfies typeof LOCAL)(
  'an anonymous mutation over WebSocket %s is rejected',
  async (_name, headers) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, GRAPHQL_TRANSPORT_WS_PROTOCOL, { headers });
    await once(socket, 'open');
    socket.send('{"type":"connection_init"}');
    await once(socket, 'message');
    socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query: WRITE } }));
    const [data] = await once(socket, 'message');
    socket.terminate();
    expect(JSON.parse(String(data))).toMatchObject({
      type: 'error',
      payload: [{ extensions: { code: 'UNAUTHENTICATED' } }],
    });
  },
);
