import { once } from 'node:events';
import { GRAPHQL_TRANSPORT_WS_PROTOCOL } from 'graphql-ws';
import { WebSocket } from 'ws';
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
// Each has a minute's quota of its own.
beforeEach(() => {
  clock += 60_000;
});
afterAll(async () => {
  gateway.server.server.closeAllConnections();
  await gateway.close();
});

const WRITE = 'mutation { createCategory(input: { name: "Dogs" }) { id } }';

/** The statuses of a read and of a write, by REST and by GraphQL, without a key. */
async function statuses(instance: Gateway, headers: Record<string, string>): Promise<number[]> {
  const anonymous = { 'x-api-key': undefined, ...headers };
  const body = { 'content-type': 'application/json', ...headers };
  const read = await instance.graphql('{ pets { totalCount } }', undefined, anonymous);
  const write = await instance.graphql(WRITE, undefined, anonymous);
  const payload = '{"name":"Cats"}';
  const listed = await instance.server.inject({ url: '/pets', headers });
  const made = await instance.server.inject({ method: 'POST', url: '/categories', headers: body, payload });
  return [read.status, listed.statusCode, write.status, made.statusCode];
}

const WRITING = [200, 200, 200, 201];
const READING = [200, 200, 401, 401];

describe('without a key the default lets a request write', () => {
  test.each<[string, Record<string, string>]>([
    ['to 127.0.0.1', { host: '127.0.0.1:4000' }],
    ['to another address of this machine', { host: '127.1.2.3' }],
    ['to localhost', { host: 'LocalHost:80' }],
    ['to a name below localhost', { host: 'shop.localhost:4000' }],
    ['over IPv6', { host: '[::1]:4000' }],
    ['from its own page', { host: '127.0.0.1:4000', origin: 'http://127.0.0.1:4000' }],
    ['from a front end in development', { host: '127.0.0.1:4000', origin: 'http://localhost:5173' }],
    ['from a page over IPv6', { host: '[::1]:4000', origin: 'https://[::1]:8443' }],
    ['from an origin in CORS_ORIGINS', { host: 'localhost:4000', origin: SHOP }],
  ])('%s', async (_name, headers) => {
    expect(await statuses(gateway, headers)).toEqual(WRITING);
  });
});

describe('without a key the default lets a request only read', () => {
  test.each<[string, Record<string, string>]>([
    ['to a name that was rebound', { host: 'evil.example:4000' }],
    ['to such a name, from its page', { host: 'evil.example:4000', origin: 'http://evil.example:4000' }],
    ['to such a name, from a page here', { host: 'evil.example', origin: 'http://localhost' }],
    ['to a name that begins like ours', { host: '127.0.0.1.evil.example' }],
    ['to one that ends like ours', { host: 'evillocalhost' }],
    ['to the address that means any', { host: '0.0.0.0:4000' }],
    ['to a name with a user', { host: 'localhost@evil.example' }],
    ['from a page elsewhere, whatever CORS allows', { host: '127.0.0.1:4000', origin: 'https://evil.example' }],
    ['from a page whose name begins like ours', { host: 'localhost', origin: 'http://localhost.evil.example' }],
    ['from a sandboxed page or a file', { host: 'localhost', origin: 'null' }],
    ['from an origin that is none', { host: 'localhost', origin: 'http://localhost/x' }],
  ])('%s', async (_name, headers) => {
    expect(await statuses(gateway, headers)).toEqual(READING);
  });

  test('of HTTP/1.0 without a Host', async () => {
    const body = '{"name":"Cats"}';
    const head = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
    const post = (host: string) => exchange(url, `POST /categories HTTP/1.0\r\n${host}${head}\r\n${body}`);
    expect(await post('')).toMatch(/^HTTP\/1\.1 401 /);
    expect(await post('Host: localhost\r\n')).toMatch(/^HTTP\/1\.1 201 /);
  });
});

test('a forwarded Host is not believed, even of a proxy that is trusted', async () => {
  const behind = await gateway.another({ TRUST_PROXY: '127.0.0.1' });
  const headers = { host: 'evil.example', 'x-forwarded-host': 'localhost', 'x-forwarded-for': '127.0.0.1' };
  expect(await statuses(behind, headers)).toEqual(READING);
  await behind.server.close();
});

test('ANONYMOUS_ACCESS=write holds for all, and a key for its owner', async () => {
  const open = await gateway.another({ ANONYMOUS_ACCESS: 'write' });
  const elsewhere = { host: 'shop.example', origin: 'https://evil.example' };
  expect(await statuses(open, elsewhere)).toEqual(WRITING);
  await open.server.close();
  const { headers } = await gateway.createKey();
  expect(await statuses(gateway, { ...elsewhere, ...headers })).toEqual(WRITING);
});

describe('over WebSocket', () => {
  async function write(headers: Record<string, string>): Promise<unknown> {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, GRAPHQL_TRANSPORT_WS_PROTOCOL, { headers });
    await once(socket, 'open');
    socket.send('{"type":"connection_init"}');
    await once(socket, 'message');
    socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query: WRITE } }));
    const [data] = await once(socket, 'message');
    socket.terminate();
    const { type, payload } = JSON.parse(String(data));
    return type === 'error' ? payload[0].extensions.code : type;
  }

  test.each([
    ['a program here', {}, 'next'],
    ['a page here', { origin: 'http://localhost:5173' }, 'next'],
    ['a page elsewhere', { origin: 'https://evil.example' }, 'UNAUTHENTICATED'],
    ['a rebound page', { origin: 'http://evil.example:4000', host: 'evil.example:4000' }, 'UNAUTHENTICATED'],
  ])('%s', async (_name, headers, expected) => {
    expect(await write(headers)).toBe(expected);
  });
});
