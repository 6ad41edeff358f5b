import { once } from 'node:events';
import { connect } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ADMIN_KEY, type Gateway, startGateway } from '../helper/gateway';
import { responsesIn } from '../helper/messages';
import { ANONYMOUS, ask } from './client';

let gateway: Gateway;
let instance: Gateway;
let url: URL;
beforeAll(async () => {
  gateway = await startGateway();
  instance = await gateway.another({ ANONYMOUS_ACCESS: 'write', BAN_AFTER: '1000000' });
  url = new URL(await instance.listen());
});
afterAll(async () => {
  await instance.close();
  await gateway.close();
});

const MB = 1_000_000;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/**
 * Sends a text, followed by `bytes` bytes, and only then reads, as many clients and proxies do.
 * @returns the status of each response. @throws the error of the connection.
 */
async function statusesAfter(head: string, bytes: number, tail = ''): Promise<number[]> {
  const socket = connect({ port: Number(url.port), host: url.hostname })
    .setEncoding('latin1')
    .pause();
  const closed = once(socket, 'close');
  await new Promise((resolve) => socket.write(`${head}${'x'.repeat(bytes)}${tail}`, resolve));
  let received = '';
  socket.on('data', (text) => {
    received += text;
  });
  socket.resume();
  const timer = setInterval(() => {
    if (responsesIn(received).length === (tail ? 2 : 1)) socket.end();
  }, 10);
  await closed.finally(() => clearInterval(timer));
  return responsesIn(received).map(({ status }) => status);
}

const JSON_TYPE = 'Content-Type: application/json\r\n';
const HTTP_1_0 = ' HTTP/1.0\r\nHost: x\r\nConnection: close\r\n';
const CLOSE = ' HTTP/1.1\r\nHost: x\r\nConnection: close\r\n';
const KEEP_ALIVE = ' HTTP/1.1\r\nHost: x\r\n';
/** Expects this status for bodies that fit into the buffers of the kernel, and for larger bodies. */
async function expectStatus(status: number, head: string): Promise<void> {
  for (const bytes of [MB, 20 * MB])
    expect(await statusesAfter(`${head}Content-Length: ${bytes}\r\n\r\n`, bytes)).toEqual([status]);
}

const NEXT = `GET /livez${CLOSE}\r\n`;

describe.each([
  // nginx uses the first form by default.
  ['HTTP/1.0', HTTP_1_0],
  ['Connection: close', CLOSE],
  ['a connection that is kept open', KEEP_ALIVE],
])('the response arrives while the client still sends a large body, with %s', (_name, version) => {
  test.each([
    [413, 'POST /pets', JSON_TYPE],
    [401, 'PUT /pets/1', `${JSON_TYPE}X-API-Key: wrong\r\n`],
    [200, 'GET /livez', ''],
  ])('%i for %s %j', (status, on, headers) => expectStatus(status, `${on}${version}${headers}`));

  test('413 for a body in one large chunk', async () => {
    const head = `POST /pets${version.replace('1.0', '1.1')}${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\n`;
    expect(await statusesAfter(`${head}${(5 * MB).toString(16)}\r\n`, 5 * MB)).toEqual([413]);
  });
});

test.each([
  [413, 'POST /graphql', JSON_TYPE],
  [413, 'PATCH /pets/1', JSON_TYPE],
  [415, 'POST /pets', 'Content-Type: text/plain\r\n'],
  [405, 'POST /openapi.json', JSON_TYPE],
  [406, 'POST /pets', `${JSON_TYPE}Accept: text/csv\r\n`],
  [404, 'DELETE /pets/999', JSON_TYPE],
])('the response arrives while the client still sends a large body: %i for %s %j', (status, on, headers) =>
  expectStatus(status, `${on}${KEEP_ALIVE}${headers}`),
);

test('after an early rejection, the connection can be used for the next request', async () => {
  const head = `PUT /pets${KEEP_ALIVE}${JSON_TYPE}Content-Length: ${MB}\r\n\r\n`;
  expect(await statusesAfter(head, MB, NEXT)).toEqual([405, 200]);
});

test('431 arrives while the client still sends large headers', async () => {
  for (const bytes of [20_000, MB, 5 * MB])
    expect(await statusesAfter('GET /pets HTTP/1.1\r\nHost: x\r\nX-A: ', bytes)).toEqual([431]);
});

test.each(['/graphql', '/graphql/stream', '/pets', '/nowhere'])(
  'unfinished bodies for %s in chunks of one byte take little memory',
  async (path) => {
    const bytes = () => {
      collectGarbage();
      return process.memoryUsage().heapUsed + process.memoryUsage().external;
    };
    const head = `POST ${path}${KEEP_ALIVE}${JSON_TYPE}X-API-Key: ${ADMIN_KEY}\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const before = bytes();
    const sockets = Array.from({ length: 10 }, () => connect({ port: Number(url.port), host: url.hostname }));
    await Promise.all(
      sockets.map(
        (socket) =>
          new Promise((resolve) => socket.on('error', resolve).write(head + '1\r\n \r\n'.repeat(90_000), resolve)),
      ),
    );
    // All connections are read by now, since this response arrives after their data.
    for (let i = 0; i < 20; i++) await fetch(new URL('/livez', url));
    expect(bytes() - before).toBeLessThan(20 * MB);
    for (const socket of sockets) socket.destroy();
  },
);

test('fetch gets 413 for bodies of any size', async () => {
  for (const bytes of [200_000, MB, 20 * MB]) {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: 'x'.repeat(bytes) };
    expect((await fetch(new URL('/pets', url), init)).status).toBe(413);
  }
});

describe('the server closes the connection of a rejected request', () => {
  /** @returns how long the connection stayed open after the response, in milliseconds. */
  async function open(of: URL, write: (socket: ReturnType<typeof connect>) => void): Promise<number> {
    const socket = connect({ port: Number(of.port), host: of.hostname });
    socket.on('error', () => undefined);
    socket.write(`PUT /pets${KEEP_ALIVE}${JSON_TYPE}Content-Length: 1000000000\r\n\r\n`);
    await once(socket, 'data');
    const start = performance.now();
    const timer = setInterval(() => write(socket), 20);
    // `once` of node:events would fail after ECONNRESET: the server closes the connection while it receives data.
    await new Promise((resolve) => socket.resume().once('close', resolve));
    clearInterval(timer);
    return performance.now() - start;
  }

  test('once its body takes longer than REQUEST_TIMEOUT_MS', async () => {
    const hasty = await gateway.another({ REQUEST_TIMEOUT_MS: '300' });
    const ms = await open(new URL(await hasty.listen()), (socket) => socket.write(' '));
    expect(ms).toBeGreaterThan(300);
    expect(ms).toBeLessThan(5_000);
    await hasty.close();
  });

  test('once its body has more than 32 MiB', async () => {
    let sent = 0;
    const chunk = Buffer.alloc(MB);
    const ms = await open(url, (socket) => {
      if (socket.writableLength === 0) socket.write(chunk, () => (sent += MB));
    });
    expect(ms).toBeLessThan(9_000);
    expect(sent).toBeGreaterThan(32 * MB);
  });
});

test('preflights are always answered, and never lead to a ban', async () => {
  const from = '198.51.100.9';
  const preflight = { ...ANONYMOUS, origin: 'https://shop.example', 'access-control-request-method': 'PUT' };
  const limited = await gateway.another({ BAN_AFTER: '1' });
  for (let i = 0; i < 700; i++)
    expect((await ask(limited, `OPTIONS /pets/${i}`, { headers: preflight, from })).status).toBe(204);
  expect(await ask(limited, 'GET /pets', { headers: ANONYMOUS, from })).toMatchObject({
    status: 200,
    told: { remaining: 59 },
  });
  for (let i = 0; i < 60; i++) await ask(limited, 'GET /pets', { headers: ANONYMOUS, from });
  expect((await ask(limited, 'GET /pets', { headers: ANONYMOUS, from })).code).toBe('KEY_BANNED');
  for (const on of ['OPTIONS /pets', 'OPTIONS /graphql', 'OPTIONS /nothing', 'OPTIONS /livez']) {
    const { status, headers } = await ask(limited, on, { headers: preflight, from });
    expect([on, status, headers['access-control-allow-origin'], headers['retry-after']]).toEqual([
      on,
      204,
      '*',
      undefined,
    ]);
  }
  await limited.close();
});
