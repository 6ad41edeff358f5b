import { connect, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { type Gateway, startGateway } from '../helper/gateway';
import { until } from '../helper/until';
import { exchange, parseResponse } from '../helper/wire';

let gateway: Gateway;
let instance: Gateway;
let url: URL;
beforeAll(async () => {
  gateway = await startGateway();
  instance = await gateway.another({
    HEADERS_TIMEOUT_MS: '300',
    KEEP_ALIVE_TIMEOUT_MS: '300',
    REQUEST_TIMEOUT_MS: '600',
    MAX_CONNECTIONS: '20',
    ANONYMOUS_ACCESS: 'write',
  });
  url = new URL(await instance.listen());
});
afterAll(async () => {
  await instance.close();
  await gateway.close();
});
afterEach(() => until(async () => (await connections()) === 0));

const connections = () => promisify(instance.server.server.getConnections).call(instance.server.server);

/** Opens a connection. `closed` resolves with the received text when the connection ends. */
function open(localAddress = '127.0.0.1', port = Number(url.port)): { socket: Socket; closed: Promise<string> } {
  const socket = connect({ port, host: url.hostname, localAddress }).setEncoding('utf8');
  let received = '';
  socket.on('data', (text) => {
    received += text;
  });
  socket.on('error', () => undefined);
  return { socket, closed: new Promise((resolve) => socket.on('close', () => resolve(received))) };
}

const GET = 'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n';
/** Headers that every response has, so that scripts of other origins can read it, and caches know its age. */
const ALL = { 'access-control-allow-origin': '*', date: expect.stringMatching(/ GMT$/) };
const statusesOf = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));

describe('the server closes a connection', () => {
  // Browsers open connections in advance.
  test('that never sends anything, without a response, and without charging its address', async () => {
    const limitOf = async () => parseResponse(await exchange(instance.server.listeningOrigin, GET)).headers;
    const before = (await limitOf())['x-ratelimit-remaining'];
    const connections = Array.from({ length: 3 }, () => open());
    expect(await Promise.all(connections.map(({ closed }) => closed))).toEqual(['', '', '']);
    expect((await limitOf())['x-ratelimit-remaining']).toBe(before);
  });

  test('on which no byte arrives, whether the client or the server ends it, without a ban, even if there are many', async () => {
    const strict = await gateway.another({ BAN_AFTER: '1', HEADERS_TIMEOUT_MS: '300', KEEP_ALIVE_TIMEOUT_MS: '300' });
    const origin = await strict.listen();
    const port = Number(new URL(origin).port);
    const unused = Array.from({ length: 100 }, () => open('127.0.0.1', port));
    const [closing, resetting] = [open('127.0.0.1', port), open('127.0.0.1', port)];
    closing.socket.on('connect', () => closing.socket.end());
    resetting.socket.on('connect', () => resetting.socket.resetAndDestroy());
    const received = await Promise.all([...unused, closing, resetting].map(({ closed }) => closed));
    expect(received.join('')).toBe('');
    const { status, headers } = parseResponse(await exchange(origin, GET.replace('/livez', '/pets')));
    expect([status, headers['x-ratelimit-remaining']]).toEqual([200, '59']);
    await strict.close();
  });

  test('whose request headers never end, even if the client keeps sending', async () => {
    const { socket, closed } = open();
    socket.write('GET /pets HTTP/1.1\r\nHost: localhost\r\n');
    const drip = setInterval(() => socket.write('X-A: 1\r\n'), 50);
    const response = parseResponse(await closed);
    clearInterval(drip);
    expect(response).toMatchObject({
      status: 408,
      headers: { connection: 'close', 'x-ratelimit-limit': '60', ...ALL },
    });
    expect(JSON.parse(response.body)).toMatchObject({ code: 'REQUEST_TIMEOUT', status: 408 });
  });

  test('whose request body never ends, even if the client keeps sending', async () => {
    const { socket, closed } = open();
    socket.write(
      'POST /pets HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9000\r\n\r\n',
    );
    const drip = setInterval(() => socket.write(' '), 50);
    const response = parseResponse(await closed);
    clearInterval(drip);
    expect(response).toMatchObject({ status: 408, headers: { connection: 'close', ...ALL } });
  });

  test('that is idle after a response', async () => {
    const { socket, closed } = open();
    socket.write(GET);
    expect(statusesOf(await closed)).toEqual([200]);
  });

  test('that asks for a tunnel', async () => {
    const { socket, closed } = open();
    socket.write('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n');
    expect(parseResponse(await closed)).toMatchObject({ status: 400, headers: { connection: 'close', ...ALL } });
  });

  test('after the response to the 32nd request of a packet', async () => {
    const lasting = await gateway.another({});
    const { port } = new URL(await lasting.listen());
    const received = (requests: number) => {
      const { socket, closed } = open('127.0.0.1', Number(port));
      socket.write(`${GET.repeat(requests - 1)}${GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')}`);
      return closed;
    };
    for (const requests of [32, 33, 1000, 5000]) {
      const text = await received(requests);
      expect(statusesOf(text)).toEqual(new Array(32).fill(200));
      expect(text.match(/\r\nconnection: close\r\n/gi)).toHaveLength(1);
    }
    await until(async () => (await lasting.metric('requests_in_progress')) === 0);
    await lasting.close();
  });

  test('at once if the IP address already has three quarters of MAX_CONNECTIONS open', async () => {
    const held = Array.from({ length: 15 }, () => open());
    await until(async () => (await connections()) === 15);
    const { socket: rejected, closed: ended } = open();
    rejected.write(GET);
    expect(await ended).toBe('');
    for (const { socket } of held) socket.destroy();
    await until(async () => (await connections()) === 0);
    const { socket, closed } = open();
    socket.write(GET);
    expect(statusesOf(await closed)).toEqual([200]);
  });
});

// Only Linux has a second loopback address without configuration.
const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux('connections with incomplete headers from one address do not block other addresses', async () => {
  const halves = Array.from({ length: 40 }, () => open());
  for (const { socket } of halves) socket.write('GET /pets HTTP/1.1\r\nHost: localhost\r\n');
  await until(async () => (await connections()) === 15);
  const { socket, closed } = open('127.0.0.2');
  socket.write(GET);
  expect(statusesOf(await closed)).toEqual([200]);
  for (const half of halves) half.socket.destroy();
});
