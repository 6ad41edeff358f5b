import { setTimeout as sleep } from 'node:timers/promises';
import { type Gateway, startGateway } from '../../helper/gateway';
import { running, socketClient } from '../../helper/live';
import { ask } from '../../helper/load';
import { toldBy } from '../../helper/standing';
import { until } from '../../helper/until';
import { exchange, parseResponse } from '../../helper/wire';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** A request with an incomplete body. */
const UNFINISHED =
  'POST /pets HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{';

test('requests above the limit in progress are refused at once; the others are answered', async () => {
  const small = await gateway.another({ MAX_REQUESTS_IN_PROGRESS: '3' });
  const url = await small.listen();
  const held = Array.from({ length: 3 }, () => exchange(url, UNFINISHED));
  await sleep(100);
  const refused = await ask(url, { path: '/pets' });
  expect([refused.status, JSON.parse(refused.body ?? '')]).toMatchObject([503, { code: 'SERVICE_UNAVAILABLE' }]);
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
  client.subscribe('subscription { petChanged { petId } }');
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
