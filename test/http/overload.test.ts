import { setTimeout as sleep } from 'node:timers/promises';
import { type Gateway, startGateway } from '../helper/gateway';
import { running, socketClient } from '../helper/live';
import { ask } from '../helper/load';
import { toldBy } from '../helper/standing';
import { until } from '../helper/until';
import { exchange, parseResponse } from '../helper/wire';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** A request with an incomplete body. */
const UNFINISHED =
  'POST /pets HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{';

/** Blocks the event loop. */
function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test('a lagging process refuses further work, still reports its state, and recovers by itself', async () => {
  const small = await gateway.another({ MAX_EVENT_LOOP_LAG_MS: '100' });
  const get = (url: string) => small.app.inject({ url });
  expect((await get('/pets')).statusCode).toBe(200);
  for (let i = 0; i < 8; i++) {
    block(300);
    await sleep(1);
  }
  const [refused, live, ready, metrics, graphql] = await Promise.all([
    get('/pets'),
    get('/livez'),
    get('/readyz'),
    get('/metrics'),
    small.graphql('{ pets { totalCount } }'),
  ]);
  expect([refused.statusCode, refused.json()]).toEqual([
    503,
    {
      code: 'SERVICE_UNAVAILABLE',
      message: 'The service is overloaded. Try again shortly.',
      status: 503,
      requestId: expect.any(String),
    },
  ]);
  expect(toldBy(refused.headers).retryAfter).toBeGreaterThan(0);
  expect(refused.headers['access-control-allow-origin']).toBe('*');
  expect([live.statusCode, ready.statusCode, metrics.statusCode]).toEqual([200, 200, 200]);
  expect(metrics.body).toMatch(/petstore_requests_shed_total [12]\n/);
  expect([graphql.status, graphql.errors[0]?.extensions]).toMatchObject([
    503,
    { code: 'SERVICE_UNAVAILABLE' },
  ]);
  await sleep(2000);
  expect((await get('/pets')).statusCode).toBe(200);
  await small.server.close();
});

test('one long pause is not overload', async () => {
  const small = await gateway.another({ MAX_EVENT_LOOP_LAG_MS: '500' });
  await sleep(300);
  block(2500);
  await sleep(1);
  expect((await small.app.inject({ url: '/pets' })).statusCode).toBe(200);
  await small.server.close();
});

test('requests above the limit in progress are refused at once; the others are answered', async () => {
  const small = await gateway.another({ MAX_REQUESTS_IN_PROGRESS: '3' });
  const url = await small.listen();
  const held = Array.from({ length: 3 }, () => exchange(url, UNFINISHED));
  await sleep(100);
  const refused = await ask(url, { path: '/pets' });
  expect([refused.status, JSON.parse(refused.body ?? '')]).toMatchObject([
    503,
    { code: 'SERVICE_UNAVAILABLE' },
  ]);
  expect(refused.took).toBeLessThan(300);
  expect((await ask(url, { path: '/livez' })).status).toBe(200);
  await Promise.all(held);
  expect((await ask(url, { path: '/pets' })).status).toBe(200);
  await small.server.close();
});

test('operations over WebSocket count as requests, and are refused likewise', async () => {
  const small = await gateway.another({ MAX_REQUESTS_IN_PROGRESS: '3' });
  const url = await small.listen();
  const client = socketClient(url);
  const query = '{ pets { totalCount } }';
  // Keeps the connection open.
  client.subscribe('subscription { petChanged { id } }');
  await until(async () => (await running(small)) === 1);
  const held = Array.from({ length: 3 }, () => exchange(url, UNFINISHED));
  await sleep(100);
  const { error, answers } = await client.subscribe(query).untilOver();
  expect(error).toMatchObject([{ extensions: { code: 'SERVICE_UNAVAILABLE', status: 503 } }]);
  expect(answers).toEqual([]);
  await Promise.all(held);
  expect(await client.subscribe(query).until(1)).toMatchObject([{ data: { pets: { totalCount: 0 } } }]);
  client.close();
  await small.server.close();
});

test('clients that disconnect early do not count for long', async () => {
  const small = await gateway.another({ MAX_REQUESTS_IN_PROGRESS: '2' });
  const url = await small.listen();
  await Promise.all(Array.from({ length: 6 }, () => exchange(url, UNFINISHED)));
  expect((await ask(url, { path: '/pets' })).status).toBe(200);
  await small.server.close();
});

test('a body that does not arrive in time gets 408 with all headers, and its connection is closed', async () => {
  const hasty = await gateway.another({ REQUEST_TIMEOUT_MS: '200' });
  const url = await hasty.listen();
  const { status, headers, body } = parseResponse(await exchange(url, UNFINISHED));
  expect([status, JSON.parse(body)]).toMatchObject([408, { code: 'REQUEST_TIMEOUT', status: 408 }]);
  expect(headers.connection).toBe('close');
  expect(toldBy(headers).limit).toBe(60);
  await hasty.server.close();
});
