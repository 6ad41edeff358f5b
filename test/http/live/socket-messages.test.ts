import { once } from 'node:events';
import { GRAPHQL_TRANSPORT_WS_PROTOCOL } from 'graphql-ws';
import { WebSocket } from 'ws';
import { type Gateway, startGateway, type TestKey } from '../../helper/gateway';
import { socketClient } from '../../helper/live';

let gateway: Gateway;
let url: string;
const logged: unknown[] = [];
beforeAll(async () => {
  gateway = await startGateway({});
  url = await gateway.listen();
  jest.spyOn(gateway.server.log, 'error').mockImplementation((...told: unknown[]) => void logged.push(told));
});
afterEach(() => expect(logged).toEqual([]));
afterAll(async () => {
  gateway.server.server.closeAllConnections();
  await gateway.close();
});

/** Connects, as a caller of its own unless there is a key. */
async function open(key?: TestKey): Promise<WebSocket> {
  const { headers } = key ?? (await gateway.createKey());
  const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, GRAPHQL_TRANSPORT_WS_PROTOCOL, { headers });
  socket.on('error', () => undefined);
  await once(socket, 'open');
  return socket;
}

async function closedWith(socket: WebSocket): Promise<[number, string]> {
  const [code, reason] = await once(socket, 'close');
  return [code, String(reason)];
}

const PING = '{"type":"ping"}';
const TOO_OFTEN = [1008, 'More than 100 messages, or 1000 KiB, a second'];
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

describe('a client that sends too much is disconnected with 1008', () => {
  test.each<[string, (socket: WebSocket) => void]>([
    ['messages', (socket) => socket.send(PING)],
    ['pongs', (socket) => socket.pong()],
  ])('%s', async (_name, send) => {
    const socket = await open();
    for (let i = 0; i < 1000; i++) send(socket);
    expect(await closedWith(socket)).toEqual(TOO_OFTEN);
  });

  test('and not listened to until it stops', async () => {
    const socket = await open();
    const sending = setInterval(() => {
      for (let i = 0; i < 100; i++) socket.send(PING);
    }, 1);
    // Its own messages may be in the way of the reason.
    expect([1006, 1008]).toContain((await closedWith(socket))[0]);
    clearInterval(sending);
  });

  test('but for pings of the protocol below: ws itself drops it', async () => {
    const socket = await open();
    for (let i = 0; i < 1000; i++) socket.ping();
    expect([1006, 1008]).toContain((await closedWith(socket))[0]);
  });

  test('a few large messages', async () => {
    const socket = await open();
    for (let i = 0; i < 60; i++) socket.send(JSON.stringify({ type: 'pong', payload: { a: 'x'.repeat(90_000) } }));
    expect(await closedWith(socket)).toEqual(TOO_OFTEN);
  });

  test('a message in very many frames', async () => {
    const socket = await open();
    for (let i = 0; i < 17_000; i++) socket.send(' ', { fin: false });
    expect((await closedWith(socket))[0]).toBe(1008);
  });
});

test('what a caller sends over many connections counts together, and takes nothing from others', async () => {
  const [mine, other] = [await gateway.createKey(), await gateway.createKey()];
  const sockets = await Promise.all(Array.from({ length: 20 }, () => open(mine)));
  const bystander = await open(other);
  bystander.send('{"type":"connection_init"}');
  const closed = sockets.map(closedWith);
  for (const socket of sockets) for (let i = 0; i < 50; i++) socket.send(PING);
  expect(await Promise.race(closed)).toEqual(TOO_OFTEN);
  bystander.send(PING);
  await once(bystander, 'message');
  expect(bystander.readyState).toBe(WebSocket.OPEN);
  for (const socket of [...sockets, bystander]) socket.terminate();
});

test('a client that closes for another reason is not listened to either', async () => {
  const socket = await open();
  const closed = closedWith(socket);
  socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query: '{ __typename }' } }));
  for (let i = 0; i < 1000; i++) socket.send(PING);
  expect(await closed).toEqual([4401, 'Unauthorized']);
});

test('a client that connects again may start and stop all its operations at once', async () => {
  const client = socketClient(url);
  const all = Array.from({ length: 100 }, () => client.subscribe('{ __typename }'));
  for (const received of all) expect((await received.untilOver()).error).toBeUndefined();
  client.close();
});

test('a steady client is not disconnected', async () => {
  const socket = await open();
  socket.send('{"type":"connection_init"}');
  let pongs = 0;
  socket.on('message', (data) => {
    if (String(data).includes('pong')) pongs += 1;
  });
  for (let i = 0; i < 15; i++) {
    for (let sent = 0; sent < 5; sent++) socket.send(PING);
    await new Promise((resolve) => setTimeout(resolve, 60));
  }
  expect([socket.readyState, pongs]).toEqual([WebSocket.OPEN, 75]);
  socket.terminate();
});

describe('a message that is none is answered with 4400, and nothing is logged', () => {
  test.each([
    ['no JSON', 'hello', 'Invalid message received'],
    ['null', 'null', 'Invalid message received'],
    ['an unknown type', '{"type":"nothing"}', 'Invalid message received'],
    ['a type that only servers send', '{"type":"connection_ack"}', 'Invalid message received'],
    ['another', '{"type":"next","id":"1","payload":{}}', 'Invalid message received'],
    ['a subscription without an id', '{"type":"subscribe","payload":{"query":"{a}"}}', 'Invalid message received'],
    ['a deep payload', `{"type":"ping","payload":{"a":${nested(99)}}}`, 'A message has at most 100 nesting levels'],
    [
      'a very deep one',
      `{"type":"ping","payload":{"a":${nested(40_000)}}}`,
      'A message has at most 100 nesting levels',
    ],
    [
      'deep variables',
      `{"type":"subscribe","id":"1","payload":{"query":"{a}","variables":{"a":${nested(40_000)}}}}`,
      'A message has at most 100 nesting levels',
    ],
  ])('%s', async (_name, text, reason) => {
    const socket = await open();
    socket.send('{"type":"connection_init"}');
    await once(socket, 'message');
    socket.send(text);
    expect(await closedWith(socket)).toEqual([4400, reason]);
  });

  test('but one of a hundred levels is read', async () => {
    const socket = await open();
    const payload = { a: JSON.parse(nested(98)) };
    socket.send(JSON.stringify({ type: 'ping', payload }));
    const [data] = await once(socket, 'message');
    expect(JSON.parse(String(data))).toEqual({ type: 'pong', payload });
    socket.terminate();
  });
});
