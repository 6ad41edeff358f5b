import { setTimeout as sleep } from 'node:timers/promises';
import { type Gateway, startGateway } from '../helper/gateway';
import { toldBy } from '../helper/standing';
import { until } from '../helper/until';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** Blocks the event loop. */
function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test('a lagging process rejects requests, still responds to health checks, and recovers by itself', async () => {
  const small = await gateway.another();
  const get = (url: string) => small.app.inject({ url });
  expect((await get('/pets')).statusCode).toBe(200);
  await until(async () => {
    block(1100);
    return (await small.metric('event_loop_lag_seconds')) > 1;
  }, 30);
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
  expect([graphql.status, graphql.errors[0]?.extensions]).toMatchObject([503, { code: 'SERVICE_UNAVAILABLE' }]);
  await until(async () => (await get('/pets')).statusCode === 200);
  await small.server.close();
});

test('one long pause of the event loop does not count as overload', async () => {
  const small = await gateway.another();
  await sleep(300);
  block(2500);
  await sleep(1);
  expect((await small.app.inject({ url: '/pets' })).statusCode).toBe(200);
  await small.server.close();
});
