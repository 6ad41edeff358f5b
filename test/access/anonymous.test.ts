import { once } from 'node:events';
import { GRAPHQL_TRANSPORT_WS_PROTOCOL } from 'graphql-ws';
import { WebSocket } from 'ws';
import { createApp } from '../../src/app/app';
import { readConfig } from '../../src/app/config';
import { type Gateway, startGateway } from '../helper/gateway';
import { exchange } from '../helper/wire';

const SHOP = 'https://shop.example';

let clock = 1_800_000_000_000;
let gateway: Gateway;
let url: string;
beforeAll(async () => {
  gateway = await startGateway({ CORS_ORIGINS: `${SHOP},*` }, () => clock);
  url = await gateway.listen();
});
beforeEach(() => {
  // Starts a new minute, so that each test has an unused quota.
  clock += 60_000;
});
afterAll(async () => {
  gateway.server.server.closeAllConnections();
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

const SERVER = { DATABASE_URL: 'postgresql://127.0.0.1/petstore' };

test.each<[Record<string, string>, 'none' | 'read' | 'write']>([
  [{}, 'write'],
  [{ HOST: 'localhost' }, 'write'],
  [{ HOST: '127.8.9.10' }, 'write'],
  [{ HOST: '::1' }, 'write'],
  [{ HOST: '0.0.0.0' }, 'read'],
  [{ HOST: '::' }, 'read'],
  [{ HOST: '192.0.2.1' }, 'read'],
  [{ HOST: '127.0.0.1.example.com' }, 'read'],
  [SERVER, 'read'],
  [{ ...SERVER, ANONYMOUS_ACCESS: 'write' }, 'write'],
  [{ HOST: '0.0.0.0', ANONYMOUS_ACCESS: 'none' }, 'none'],
])('with the environment %j, anonymous callers have the access %s', async (environment, expected) => {
  const instance = await gateway.another(environment);
  expect(await access(instance)).toBe(expected);
  await instance.close();
});

test('createApp returns the access of anonymous callers', async () => {
  const config = readConfig({ LOG_LEVEL: 'silent', HOST: '0.0.0.0' });
  const { server, anonymousAccess } = await createApp(config, gateway.database);
  expect(anonymousAccess).toBe('read');
  await server.close();
});

const HERE = { host: '127.0.0.1:4000' };
const REBOUND = { host: 'evil.example:4000' };

test.each<[string, Record<string, string>, 'read' | 'write']>([
  ['to 127.0.0.1', HERE, 'write'],
  ['to another address of this machine', { host: '127.1.2.3' }, 'write'],
  ['to localhost', { host: 'LocalHost:80' }, 'write'],
  ['to a subdomain of localhost', { host: 'shop.localhost:4000' }, 'write'],
  ['to the IPv6 loopback address', { host: '[::1]:4000' }, 'write'],
  ['from a page of the gateway itself', { ...HERE, origin: 'http://127.0.0.1:4000' }, 'write'],
  ['from a front end on another local port', { ...HERE, origin: 'http://localhost:5173' }, 'write'],
  ['from a page on the IPv6 loopback address', { host: '[::1]:4000', origin: 'https://[::1]:8443' }, 'write'],
  ['from an origin in CORS_ORIGINS', { host: 'localhost:4000', origin: SHOP }, 'write'],
  ['to a host name of a DNS rebinding attack', REBOUND, 'read'],
  [
    'to a host name of a DNS rebinding attack, from its page',
    { ...REBOUND, origin: 'http://evil.example:4000' },
    'read',
  ],
  ['to a host name of a DNS rebinding attack, from a local page', { ...REBOUND, origin: 'http://localhost' }, 'read'],
  ['to a name that begins like a loopback address', { host: '127.0.0.1.evil.example' }, 'read'],
  ['to a name that ends like localhost', { host: 'evillocalhost' }, 'read'],
  ['to the unspecified address', { host: '0.0.0.0:4000' }, 'read'],
  ['with a user name in the Host header', { host: 'localhost@evil.example' }, 'read'],
  ['from another site that CORS allows', { ...HERE, origin: 'https://evil.example' }, 'read'],
  ['from a site that begins like localhost', { host: 'localhost', origin: 'http://localhost.evil.example' }, 'read'],
  ['from a sandboxed page or a file', { host: 'localhost', origin: 'null' }, 'read'],
  ['from an invalid origin', { host: 'localhost', origin: 'http://localhost/x' }, 'read'],
])('by default, an anonymous request %s has %3$s access', async (_name, headers, expected) => {
  expect(await access(gateway, headers)).toBe(expected);
});

test('without CORS_ORIGINS, an anonymous request from another site has only read access', async () => {
  const instance = await gateway.another();
  expect(await access(instance, { ...HERE, origin: SHOP })).toBe('read');
  await instance.close();
});

test('by default, an anonymous HTTP/1.0 request without a Host header has only read access', async () => {
  const body = '{"name":"Cats"}';
  const head = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  const post = (host: string) => exchange(url, `POST /categories HTTP/1.0\r\n${host}${head}\r\n${body}`);
  expect(await post('')).toMatch(/^HTTP\/1\.1 401 /);
  expect(await post('Host: localhost\r\n')).toMatch(/^HTTP\/1\.1 201 /);
});

test('the header X-Forwarded-Host is ignored, even from a trusted proxy', async () => {
  const behind = await gateway.another({ TRUST_PROXY: '127.0.0.1' });
  const forwarded = { 'x-forwarded-host': 'localhost', 'x-forwarded-for': '127.0.0.1' };
  expect(await access(behind, { host: 'evil.example', ...forwarded })).toBe('read');
  await behind.close();
});

test('callers from any host may write with ANONYMOUS_ACCESS=write, or with a key', async () => {
  const open = await gateway.another({ ANONYMOUS_ACCESS: 'write' });
  const elsewhere = { host: 'shop.example', origin: 'https://evil.example' };
  expect(await access(open, elsewhere)).toBe('write');
  await open.close();
  const { headers } = await gateway.createKey();
  expect(await access(gateway, { ...elsewhere, ...headers })).toBe('write');
});

test.each([
  ['a program', {}, 'next'],
  ['a local page', { origin: 'http://localhost:5173' }, 'next'],
  ['a page of another site', { origin: 'https://evil.example' }, 'UNAUTHENTICATED'],
  ['a page of a DNS rebinding attack', { ...REBOUND, origin: 'http://evil.example:4000' }, 'UNAUTHENTICATED'],
])('a mutation over WebSocket by %s gets the message or error code "%3$s"', async (_name, headers, expected) => {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, GRAPHQL_TRANSPORT_WS_PROTOCOL, { headers });
  await once(socket, 'open');
  socket.send('{"type":"connection_init"}');
  await once(socket, 'message');
  socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query: WRITE } }));
  const [data] = await once(socket, 'message');
  socket.terminate();
  const { type, payload } = JSON.parse(String(data));
  expect(type === 'error' ? payload[0].extensions.code : type).toBe(expected);
});
