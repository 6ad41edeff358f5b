import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { GRAPHQL_TRANSPORT_WS_PROTOCOL } from 'graphql-ws';
import { WebSocket } from 'ws';
import { fillShop } from '../../helper/database';
import { ADMIN_KEY, type Gateway, startGateway } from '../../helper/gateway';
import { running, socketClient } from '../../helper/live';
import { until } from '../../helper/until';
import { exchange, parseResponse } from '../../helper/wire';

/** Tests specific to WebSocket: upgrades, the subprotocol, and limits on messages. */

const ORIGIN = 'https://shop.example';
const PING = '{"type":"ping"}';
const INIT = '{"type":"connection_init"}';
const TOO_OFTEN = [1008, 'More than 100 messages, or 1000 KiB, a second'];
const INVALID = 'Invalid message received';
const DEEP = 'A message has at most 100 nesting levels';
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

let gateway: Gateway;
let url: string;
let silent: Promise<[number, string]>;
const sockets: WebSocket[] = [];
const logged: unknown[] = [];
beforeAll(async () => {
  gateway = await startGateway({ MAX_SUBSCRIPTIONS_PER_CALLER: '20', CORS_ORIGINS: ORIGIN });
  url = await gateway.listen();
  await fillShop(gateway.database);
  jest.spyOn(gateway.server.log, 'error').mockImplementation((...told: unknown[]) => void logged.push(told));
  // This connection sends no `connection_init`. Its timeout takes seconds, so the other tests run in the meantime.
  silent = closedWith(await open());
});
afterAll(async () => {
  for (const socket of sockets) socket.terminate();
  await gateway.close();
});

function connectTo(headers: Record<string, string> = {}, protocols = [GRAPHQL_TRANSPORT_WS_PROTOCOL]): WebSocket {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, protocols, { headers });
  socket.on('error', () => undefined);
  sockets.push(socket);
  return socket;
}

/** Connects with these headers, or by default with a new key. */
async function open(headers?: Record<string, string>, protocols?: string[]): Promise<WebSocket> {
  const socket = connectTo(headers ?? (await gateway.createKey()).headers, protocols);
  await once(socket, 'open');
  return socket;
}

async function closedWith(socket: WebSocket): Promise<[number, string]> {
  const [code, reason] = await once(socket, 'close');
  return [code, String(reason)];
}

/** Waits for the response that rejects an upgrade. */
async function rejectedWith(socket: WebSocket) {
  const [, response] = await once(socket, 'unexpected-response');
  let text = '';
  for await (const chunk of response) text += chunk;
  return { status: response.statusCode, headers: response.headers, code: JSON.parse(text).errors[0].extensions.code };
}

const HOST = `Host: x\r\nX-API-Key: ${ADMIN_KEY}\r\n`;
const WEBSOCKET = `${HOST}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n`;
const KEY = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
const UPGRADE = `GET /graphql HTTP/1.1\r\n${WEBSOCKET}${KEY}`;
const protocols = (list: string) => `Sec-WebSocket-Protocol: ${list}\r\n`;

describe('an upgrade', () => {
  test.each<[status: number, name: string, head: string]>([
    [101, 'for WebSocket', UPGRADE],
    [101, 'with a query string', `GET /graphql?a=b HTTP/1.1\r\n${WEBSOCKET}${KEY}`],
    ...['graphql-transport-ws', 'a, graphql-transport-ws', " a\t,\tb-1.0_~!#$%&'*+^`| "].map(
      (list): [number, string, string] => [101, `with the protocols '${list}'`, UPGRADE + protocols(list)],
    ),
    ...['a,,b', 'a,', ',a', '', 'a b', 'a;b', 'a/b', '"a"', 'a, a', 'é'].map((list): [number, string, string] => [
      400,
      `with the protocols '${list}'`,
      UPGRADE + protocols(list),
    ]),
    [400, 'without Sec-WebSocket-Key', `GET /graphql HTTP/1.1\r\n${WEBSOCKET}`],
    [400, 'with another WebSocket version', UPGRADE.replace('13', '7')],
    [200, 'at the path of a REST operation, where the upgrade is ignored', UPGRADE.replace('/graphql', '/pets')],
    [404, 'at an unknown path', UPGRADE.replace('/graphql', '/nowhere')],
    [405, 'with another method', UPGRADE.replace('GET', 'DELETE')],
  ])('gets %i if requested %s', async (status, _name, head) => {
    const received = await new Promise<string>((resolve) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(`${head}\r\n`));
      socket.once('data', (data) => {
        resolve(String(data).toLowerCase());
        socket.destroy();
      });
    });
    expect(received.slice(9, 12)).toBe(String(status));
    for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'ratelimit-policy', 'x-request-id'])
      expect(received).toContain(`\r\n${name}: `);
  });

  test('waits for the responses to earlier requests on the connection', async () => {
    const received = await exchange(url, `${`GET /pets HTTP/1.1\r\n${HOST}\r\n`.repeat(2)}${UPGRADE}\r\n`);
    expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 101']);
  });

  test('logs no error if the client resets the connection', async () => {
    logged.length = 0;
    for (let i = 0; i < 20; i++) {
      const socket = connect(Number(new URL(url).port), '127.0.0.1', () => {
        socket.write(`${UPGRADE}\r\n`);
        // After an immediate reset, the server cannot read the client's address.
        if (i % 2) socket.resetAndDestroy();
        else setTimeout(() => socket.resetAndDestroy(), i);
      }).on('error', () => undefined);
    }
    await until(async () => (await fetch(`${url}/livez`)).status === 200);
    await sleep(50);
    expect(logged).toEqual([]);
  });

  test('to HTTP/2 is ignored: requests are answered over HTTP/1.1, in order', async () => {
    const offer = `${HOST}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n`;
    const get = `GET /categories/1 HTTP/1.1\r\n${offer}\r\n`;
    const post = (name: string) =>
      `POST /categories HTTP/1.1\r\n${offer}Content-Type: application/json\r\nContent-Length: ${name.length + 11}\r\n\r\n{"name":"${name}"}`;
    const names = Array.from({ length: 15 }, (_, i) => `n${i}`);
    const socket = connect(Number(new URL(url).port), '127.0.0.1').setEncoding('utf8');
    let received = '';
    socket.on('data', (data) => {
      received += data;
    });
    for (const name of names) {
      socket.write(`${get}${get}${post(name)}`);
      await until(async () => received.includes(`"name":"${name}"}`));
    }
    socket.destroy();
    expect(parseResponse(received)).toMatchObject({ status: 200, headers: { 'x-ratelimit-remaining': /\d+/ } });
    expect(received.match(/(?<=HTTP\/1\.1 )\d+/g)).toEqual(names.flatMap(() => ['200', '200', '201']));
  });

  test.each<[status: number, name: string, headers: () => Record<string, string>, code?: string]>([
    [101, 'an origin of CORS_ORIGINS', () => ({ origin: ORIGIN })],
    [101, 'the origin of the gateway', () => ({ origin: url })],
    [403, 'an origin that is not listed', () => ({ origin: 'https://evil.example' }), 'FORBIDDEN'],
    [401, 'a wrong key', () => ({ 'x-api-key': `ps_000000000000_${'x'.repeat(32)}` }), 'UNAUTHENTICATED'],
  ])('gets %i with %s', async (status, _name, headers, ...[code]) => {
    if (status === 101) await open(headers());
    else expect(await rejectedWith(connectTo(headers()))).toMatchObject({ status, code });
  });

  test('gets 429 if the caller has too many connections; a closed connection releases its slot', async () => {
    const { headers } = await gateway.createKey();
    const opened = await Promise.all(Array.from({ length: 20 }, () => open(headers)));
    const rejected = await rejectedWith(connectTo(headers));
    expect([rejected.status, rejected.headers['retry-after']]).toEqual([429, '5']);
    expect(rejected.headers).toHaveProperty('x-ratelimit-remaining');
    opened[0]?.close();
    await closedWith(opened[0] as WebSocket);
    await open(headers);
  });
});

describe('the server closes the connection without logging an error', () => {
  const repeat = (times: number, act: (socket: WebSocket) => void) => (socket: WebSocket) => {
    for (let i = 0; i < times; i++) act(socket);
  };
  const send =
    (...texts: string[]) =>
    (socket: WebSocket) => {
      for (const text of texts) socket.send(text);
    };
  const payload = (length: number) => JSON.stringify({ type: 'pong', payload: { a: 'x'.repeat(length) } });
  const subscribe = (more: string) => `{"type":"subscribe","id":"1","payload":{"query":"{__typename}"${more}}}`;

  const WATCH = subscribe('').replace('{__typename}', 'subscription { petChanged { kind } }');
  const watchTwice = (socket: WebSocket) => {
    socket.once('message', () => send(WATCH, WATCH)(socket));
    socket.send(INIT);
  };

  const CASES: [closed: (number | string)[], name: string, act: (socket: WebSocket) => void][] = [
    [TOO_OFTEN, 'sends 1000 messages', repeat(1000, send(PING))],
    [TOO_OFTEN, 'sends 1000 pongs', repeat(1000, (socket) => socket.pong())],
    [TOO_OFTEN, 'sends 5 MB', repeat(60, send(payload(90_000)))],
    [[1009, ''], 'sends a large message', send(payload(200_000))],
    [[1008, ''], 'sends a message in 65 fragments', repeat(65, (socket) => socket.send(' ', { fin: false }))],
    [[4400, INVALID], 'sends text that is not JSON', send(INIT, 'hello')],
    [[4400, INVALID], 'sends null', send(INIT, 'null')],
    [[4400, INVALID], 'sends an unknown type', send(INIT, '{"type":"nothing"}')],
    [[4400, INVALID], 'sends a type that only servers may send', send(INIT, '{"type":"connection_ack"}')],
    [[4400, INVALID], 'sends a server message with a result', send(INIT, '{"type":"next","id":"1","payload":{}}')],
    [[4400, INVALID], 'subscribes without an id', send(INIT, '{"type":"subscribe","payload":{"query":"{a}"}}')],
    [[4400, DEEP], 'sends a deep payload', send(INIT, `{"type":"ping","payload":{"a":${nested(99)}}}`)],
    [[4400, DEEP], 'sends a very deep payload', send(INIT, `{"type":"ping","payload":{"a":${nested(40_000)}}}`)],
    [[4401, 'Unauthorized'], 'subscribes without connection_init', send(subscribe(''))],
    [
      [4401, 'Unauthorized'],
      'subscribes without connection_init and keeps sending',
      send(subscribe(''), ...Array(1000).fill(PING)),
    ],
    [[4409, 'Subscriber for 1 already exists'], 'uses the id of a running operation', watchTwice],
    [[4429, 'Too many initialisation requests'], 'sends connection_init twice', send(INIT, INIT)],
  ];
  let closings: Promise<[number, string]>[];
  beforeAll(() => {
    logged.length = 0;
    // Closing a connection can take a second, so all cases run at the same time.
    closings = CASES.map(async ([, , act]) => {
      const socket = await open();
      act(socket);
      return closedWith(socket);
    });
  });
  afterAll(() => expect(logged).toEqual([]));

  test.each(CASES.map(([closed, name], i) => [closed, name, i] as const))(
    'with code and reason %j if the client %s',
    async (closed, _name, i) => {
      expect(await closings[i]).toEqual(closed);
    },
  );

  // A client that keeps sending can miss the close frame. The client then reports 1006.
  test.each<[name: string, act: (socket: WebSocket) => NodeJS.Timeout | undefined]>([
    ['never stops sending', (socket) => setInterval(() => repeat(100, send(PING))(socket), 1)],
    ['sends 1000 ping frames', (socket) => void repeat(1000, () => socket.ping())(socket) as undefined],
    [
      'sends a message in 17,000 frames',
      (socket) => void repeat(17_000, () => socket.send(' ', { fin: false }))(socket) as undefined,
    ],
  ])('with 1008 if the client %s', async (_name, act) => {
    const socket = await open();
    const sending = act(socket);
    expect([1006, 1008]).toContain((await closedWith(socket))[0]);
    clearInterval(sending);
  });

  test('with 4406 if the client does not offer the subprotocol', async () => {
    const socket = connectTo({}, []);
    expect((await closedWith(socket))[0]).toBe(4406);
  });

  test('with 4408 if the client sends no connection_init in time', async () => {
    expect(await silent).toEqual([4408, 'Connection initialisation timeout']);
  });
});

test('the message limit covers all connections of a caller, and other callers are not affected', async () => {
  const [mine, other] = [await gateway.createKey(), await gateway.createKey()];
  const many = await Promise.all(Array.from({ length: 20 }, () => open(mine.headers)));
  const bystander = await open(other.headers);
  bystander.send(INIT);
  const closed = many.map(closedWith);
  for (const socket of many) for (let i = 0; i < 50; i++) socket.send(PING);
  expect(await Promise.race(closed)).toEqual(TOO_OFTEN);
  bystander.send(PING);
  await once(bystander, 'message');
  expect(bystander.readyState).toBe(WebSocket.OPEN);
});

test('a client within the message limit is not disconnected, even if a message has 100 nesting levels', async () => {
  const socket = await open();
  const received: string[] = [];
  socket.on('message', (data) => received.push(String(data)));
  socket.send(INIT);
  for (let i = 0; i < 10; i++) {
    for (let sent = 0; sent < 5; sent++) socket.send(PING);
    await new Promise((resolve) => setTimeout(resolve, 60));
  }
  const payload = `{"a":${nested(98)}}`;
  socket.send(`{"type":"ping","payload":${payload}}`);
  await until(async () => received.length === 52);
  expect([socket.readyState, received.at(-1)]).toEqual([WebSocket.OPEN, `{"type":"pong","payload":${payload}}`]);
});

test('a client may start all of its permitted operations at once, for example after a reconnect', async () => {
  const client = socketClient(url);
  const all = Array.from({ length: 20 }, () => client.subscribe('{ __typename }'));
  for (const received of all) expect((await received.untilOver()).error).toBeUndefined();
  client.close();
  expect(await running(gateway)).toBe(0);
});
