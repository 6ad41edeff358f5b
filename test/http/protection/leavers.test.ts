import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { GRAPHQL_TRANSPORT_WS_PROTOCOL } from 'graphql-ws';
import { WebSocket } from 'ws';
import { type Gateway, startGateway, type TestKey } from '../../helper/gateway';
import { running } from '../../helper/live';
import { until } from '../../helper/until';

const MOST = 2;

let gateway: Gateway;
let url: string;
beforeAll(async () => {
  gateway = await startGateway({ MAX_SUBSCRIPTIONS_PER_CALLER: String(MOST) });
  url = await gateway.listen();
});
afterAll(() => gateway.close());

/** Blocks key look-ups. @returns how many are blocked, and how to release them. */
function holdLookUps() {
  const { database } = gateway;
  const { prisma } = database;
  let letGo: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const held = { count: 0, letGo: () => Object.assign(database, { prisma }) && letGo() };
  const findUnique = async (args: Parameters<typeof prisma.apiKey.findUnique>[0]) => {
    held.count += 1;
    await released;
    return prisma.apiKey.findUnique(args);
  };
  Object.assign(database, { prisma: Object.create(prisma, { apiKey: { value: { findUnique } } }) });
  return held;
}

/** Sends a request, and disconnects while its key is looked up. */
async function leave(request: string): Promise<void> {
  const held = holdLookUps();
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(request);
  await until(async () => held.count > 0);
  socket.resetAndDestroy();
  const connections = promisify(gateway.server.server.getConnections.bind(gateway.server.server));
  await until(async () => (await connections()) === 0);
  held.letGo();
}

const inProgress = async () => {
  const { body } = await gateway.app.inject({ url: '/metrics' });
  return Number(/^petstore_requests_in_progress (-?\d+)$/m.exec(body)?.[1]);
};

const QUERY = JSON.stringify({ query: 'subscription { petChanged { petId } }' });
const head = (line: string, { whole }: TestKey) => `${line} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${whole}\r\n`;

describe('a client that disconnects before it is recognised leaves nothing behind', () => {
  test.each<[string, (key: TestKey) => string]>([
    [
      'while upgrading to WebSocket',
      (key) =>
        `${head('GET /graphql', key)}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: ${GRAPHQL_TRANSPORT_WS_PROTOCOL}\r\n\r\n`,
    ],
    [
      'while opening an event stream',
      (key) =>
        `${head('POST /graphql/stream', key)}Accept: text/event-stream\r\nContent-Type: application/json\r\nContent-Length: ${QUERY.length}\r\n\r\n${QUERY}`,
    ],
  ])('%s', async (_name, requestOf) => {
    for (let i = 0; i < MOST; i++) {
      const key = await gateway.createKey();
      await leave(requestOf(key));
      await sleep(50);
      await until(async () => (await running(gateway)) === 0);
      expect(await inProgress()).toBe(1);
      const sockets = Array.from(
        { length: MOST },
        () =>
          new WebSocket(`${url.replace('http', 'ws')}/graphql`, GRAPHQL_TRANSPORT_WS_PROTOCOL, {
            headers: key.headers,
          }),
      );
      await Promise.all(sockets.map((socket) => once(socket, 'open')));
      for (const socket of sockets) socket.terminate();
    }
  });
});

test('a client that disconnects before its pipelined requests are answered leaves no places taken', async () => {
  const request = `${head('GET /pets', await gateway.createKey())}\r\n`;
  await leave(request.repeat(5));
  await sleep(50);
  expect(await inProgress()).toBe(1);
});
