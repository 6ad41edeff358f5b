import { once } from 'node:events';
import { type ClientRequest, request } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { GRAPHQL_TRANSPORT_WS_PROTOCOL } from 'graphql-ws';
import { WebSocket } from 'ws';
import { statement } from '../../../src/database/statement';
import { ADMIN_KEY, type Gateway } from '../../helper/gateway';
import { running, socketClient } from '../../helper/live';
import { until } from '../../helper/until';
import { startToys } from '../../toys/gateway';

let gateway: Gateway;
let url: string;
beforeAll(async () => {
  gateway = await startToys({
    MAX_SUBSCRIPTIONS_PER_CALLER: '1000',
  });
  url = await gateway.listen();
  const name = '🪀'.repeat(255);
  await gateway.data('mutation ($name: String!) { createToy(input: { name: $name }) { id } }', { name });
});
afterAll(() => gateway.close());

const headers = { 'x-api-key': ADMIN_KEY };
const key = { 'content-type': 'application/json', accept: 'text/event-stream', ...headers };
/** About 250 KB per event. */
const LARGE = `subscription { toyChanged { toy { ${Array.from({ length: 240 }, (_, i) => `f${i}: name`).join(' ')} } } }`;

async function openStream(query: string): Promise<ClientRequest> {
  const asked = request(`${url}/graphql/stream`, { method: 'POST', headers: key });
  asked.on('error', () => undefined);
  asked.end(JSON.stringify({ query }));
  return asked;
}

async function openSocket(query: string): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, GRAPHQL_TRANSPORT_WS_PROTOCOL, {
    headers,
  });
  await once(socket, 'open');
  socket.send('{"type":"connection_init"}');
  await once(socket, 'message');
  socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query } }));
  return socket;
}

const change = () => gateway.database.notifyListeners({ topic: 'toy', kind: 'UPDATED', id: 1n });

describe('a subscriber that does not read is disconnected; other subscribers receive every event', () => {
  test.each([
    [
      'graphql-ws',
      async () => {
        const socket = await openSocket(LARGE);
        socket.pause();
        return {
          read: async () => {
            let last = '';
            socket.on('message', (data) => {
              last = String(data).includes('complete') ? last : String(data);
            });
            socket.resume();
            await until(async () => last.includes('SERVICE_UNAVAILABLE'), 10);
            return last;
          },
          close: () => socket.terminate(),
        };
      },
    ],
    [
      'graphql-sse',
      async () => {
        const asked = await openStream(LARGE);
        const [response] = await once(asked, 'response');
        return {
          read: async () => {
            let end = '';
            for await (const chunk of response) end = (end + chunk).slice(-1000);
            return end;
          },
          close: () => asked.destroy(),
        };
      },
    ],
  ])('%s', async (_name, open) => {
    const quick = socketClient(url, headers);
    const heard = quick.subscribe('subscription { toyChanged { kind } }');
    const slow = await open();
    await until(async () => (await running(gateway)) === 2);
    const before = await gateway.metric('subscribers_too_slow_total');
    let told = 0;
    while ((await gateway.metric('subscribers_too_slow_total')) === before && told < 2000) {
      for (let i = 0; i < 20; i++, told++) change();
      await until(async () => heard.answers.length === told);
    }
    // The server ends a subscription once 256 events are queued for it. The socket buffers hold further events.
    expect(told).toBeGreaterThan(256);
    expect(told).toBeLessThan(600);
    expect(await slow.read()).toContain('SERVICE_UNAVAILABLE');
    expect(heard.error).toBeUndefined();
    slow.close();
    quick.close();
    await until(async () => (await running(gateway)) === 0, 30);
  });
});

/** The number of clients per protocol. */
const MANY = 40;

test('clients that disconnect leave no subscription, connection or memory behind', async () => {
  setFlagsFromString('--expose-gc');
  const gc: () => void = runInNewContext('gc');
  const round = async () => {
    const sockets = await Promise.all(
      Array.from({ length: MANY }, () => openSocket('subscription { toyChanged { kind } }')),
    );
    const streams = await Promise.all(
      Array.from({ length: MANY }, () => openStream('subscription { toyChanged { kind } }')),
    );
    await until(async () => (await running(gateway)) === 2 * MANY, 30);
    change();
    for (const [i, socket] of sockets.entries()) i % 2 ? socket.terminate() : socket.close();
    for (const stream of streams) stream.destroy();
    await until(async () => (await running(gateway)) === 0, 30);
    await until(async () => (await connections()) <= 1, 30);
    gc();
    return process.memoryUsage().heapUsed;
  };
  const connections = () =>
    new Promise<number>((resolve) => gateway.server.server.getConnections((_e, n) => resolve(n)));
  await round();
  const before = await round();
  await round();
  const grown = (await round()) - before;
  expect(grown / 1024 / 1024).toBeLessThan(4);
  expect(await gateway.metric('requests_in_progress')).toBe(0);
});

test('data that many subscribers select is read from the database once per event', async () => {
  const client = socketClient(url, headers);
  const received = Array.from({ length: 200 }, () =>
    client.subscribe('subscription { toyChanged { kind toy { name } } }'),
  );
  await until(async () => (await running(gateway)) === 200, 30);
  const { query } = gateway.database;
  let statements = 0;
  gateway.database.query = (...args) => {
    statements += 1;
    return query.apply(gateway.database, args) as never;
  };
  await gateway.database.serviceSession().query(statement('select 1'), []);
  change();
  await until(async () => received.every(({ answers }) => answers.length === 1), 30);
  gateway.database.query = query;
  expect(statements).toBe(2);
  client.close();
  await until(async () => (await running(gateway)) === 0, 30);
});
