import { once } from 'node:events';
import { createApp } from '../../src/app/app';
import { readConfig } from '../../src/app/config';
import { statement } from '../../src/database/statement';
import { metricsServer, metricsUrl } from '../../src/http/metrics-server';
import { ADMIN_KEY, type Gateway, startGateway } from '../helper/gateway';
import { toldBy } from '../helper/standing';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ BAN_AFTER: '2' });
});
afterAll(() => gateway.close());

const remote = (headers: Record<string, string> = {}) =>
  gateway.server.inject({ url: '/metrics', headers, remoteAddress: '203.0.113.7' });

/** @returns the samples of `/metrics`, by name and labels: `name{a="b"}`. */
async function samples(): Promise<Record<string, number>> {
  const { statusCode, body } = await remote({ 'x-api-key': ADMIN_KEY });
  expect(statusCode).toBe(200);
  const lines = body.split('\n').filter((line) => line && !line.startsWith('#'));
  return Object.fromEntries(lines.map((line) => [line.replace(/ \S+$/, ''), Number(line.split(' ').pop())]));
}

/** @returns the increase of each sample since `before`. */
async function gainedSince(before: Record<string, number>): Promise<Record<string, number>> {
  const after = await samples();
  return Object.fromEntries(Object.entries(after).map(([name, value]) => [name, value - (before[name] ?? 0)]));
}

const count = (operation: string, status: string) =>
  `petstore_request_duration_seconds_count{operation="${operation}",status="${status}"}`;

test('requests are counted by operation and status class', async () => {
  const before = await samples();
  await gateway.data('query Mine { a: pets { totalCount } b: pets { totalCount } }');
  await gateway.data('{ pets { totalCount } orders { totalCount } }');
  await gateway.graphql('{ nonsense }');
  await gateway.app.inject({ url: '/pets/1' });
  await gateway.app.inject({ url: '/pets' });
  await gateway.app.inject({ url: '/docs/rest' });
  await gateway.app.inject({ url: '/' });
  await gateway.app.inject({ url: '/wp-login.php' });
  expect(await gainedSince(before)).toMatchObject({
    [count('query pets', '2xx')]: 1,
    [count('query (several)', '2xx')]: 1,
    [count('graphql', '4xx')]: 1,
    [count('getPet', '4xx')]: 1,
    [count('listPets', '2xx')]: 1,
    [count('docs', '2xx')]: 1,
    [count('pages', '2xx')]: 1,
    [count('other', '4xx')]: 1,
  });
  expect(await samples()).toMatchObject({
    'petstore_limiter_store{state="memory"}': 1,
    'petstore_limiter_store{state="redis"}': 0,
    petstore_requests_in_progress: 1,
    petstore_requests_shed_total: 0,
  });
});

test('decisions of the rate limiter are counted, and a ban is counted once, when it begins', async () => {
  const key = await gateway.createKey({ plan: 'ENTERPRISE', perMinute: 3, perDay: 3 });
  const before = await samples();
  for (let i = 0; i < 8; i++) await gateway.app.inject({ url: '/pets', headers: key.headers });
  expect(await gainedSince(before)).toMatchObject({
    'petstore_limiter_decisions_total{decision="allowed"}': 3,
    'petstore_limiter_decisions_total{decision="limited"}': 2,
    'petstore_limiter_decisions_total{decision="banned"}': 3,
    petstore_bans_begun_total: 1,
  });
});

test('the size of the change feed is read, and how many events wait for their position', async () => {
  const size = async () => {
    const { petstore_feed_events, petstore_feed_unnumbered_events, petstore_feed_oldest_event_seconds } =
      await samples();
    return [petstore_feed_events, petstore_feed_unnumbered_events, Math.floor(petstore_feed_oldest_event_seconds ?? 0)];
  };
  const write = `insert into events (topic, kind, object_id, at)
    select 'pet', 'CREATED', n, now() - interval '1 hour' from generate_series(1, 3) as n`;
  for (const sql of ['delete from events', write]) await gateway.database.serviceSession().query(statement(sql), []);
  expect(await size()).toEqual([0, 3, 0]);
  await gateway.data('{ events { nodes { id } } }');
  expect(await size()).toEqual([3, 0, 3600]);
});

test('labels have no values that clients choose, and metrics contain no secrets', async () => {
  const key = await gateway.createKey();
  await gateway.graphql('query Invented { madeUpAlias: pets { totalCount } }', {}, key.headers);
  await gateway.app.inject({
    url: '/made-up?key=made-up',
    headers: { ...key.headers, 'user-agent': 'made-up' },
  });
  const { body } = await remote({ 'x-api-key': ADMIN_KEY });
  expect(body).not.toMatch(/invented|made-?up/i);
  for (const whole of [key.whole, ADMIN_KEY]) {
    expect(body).not.toContain(whole);
    expect(body).not.toContain(whole.split('_')[2]);
  }
  expect(body).toContain('nodejs_eventloop_lag_seconds');
  expect(body).toContain('process_cpu_seconds_total');
});

test('metrics on the main port require a key with the scope ADMIN, even from localhost', async () => {
  expect((await remote({ 'x-api-key': ADMIN_KEY })).statusCode).toBe(200);
  for (const remoteAddress of ['203.0.113.7', '127.0.0.1', '::1']) {
    const rejected = await gateway.server.inject({
      url: '/metrics',
      headers: { host: '127.0.0.1:4000' },
      remoteAddress,
    });
    expect([rejected.statusCode, rejected.json().code]).toEqual([401, 'UNAUTHENTICATED']);
  }
  const key = await gateway.createKey({ scopes: ['READ', 'WRITE'] });
  expect((await remote(key.headers)).json()).toMatchObject({ code: 'FORBIDDEN', status: 403 });
  expect((await remote({ 'x-api-key': 'nonsense' })).statusCode).toBe(401);
});

test('a scrape uses no quota', async () => {
  const key = await gateway.createKey({ scopes: ['ADMIN'] });
  const left = async () => toldBy((await remote(key.headers)).headers).remaining;
  const first = await left();
  expect(await left()).toBe(first);
});

test.each([
  ['127.0.0.1', 'http://127.0.0.1:9464/metrics'],
  ['::1', 'http://[::1]:9464/metrics'],
])('on the host %s, the URL of the metrics server is %s', (host, url) => {
  expect(metricsUrl(host, 9464)).toBe(url);
});

test('with METRICS_PORT, metrics are served only on that port', async () => {
  const config = readConfig({ LOG_LEVEL: 'silent', ADMIN_API_KEY: ADMIN_KEY, METRICS_PORT: '0' });
  const { server, metrics } = await createApp(config, gateway.database);
  const answer = await server.inject({ url: '/metrics', headers: { 'x-api-key': ADMIN_KEY } });
  expect(answer.statusCode).toBe(404);
  const own = metricsServer(metrics).listen(0, '127.0.0.1');
  await once(own, 'listening');
  const { port } = own.address() as { port: number };
  const scraped = await fetch(`http://127.0.0.1:${port}/metrics`);
  expect([scraped.status, scraped.headers.get('content-type')]).toEqual([
    200,
    expect.stringMatching(/^text\/plain; version=0\.0\.4/),
  ]);
  expect(await scraped.text()).toContain(count('other', '4xx'));
  expect((await fetch(`http://127.0.0.1:${port}/graphql`)).status).toBe(404);
  own.closeAllConnections();
  own.close();
  await server.close();
});

test('with several workers, the main port serves no metrics and the error names METRICS_PORT', async () => {
  const several = {
    WEB_CONCURRENCY: '2',
    DATABASE_URL: 'postgresql://127.0.0.1/petstore',
    REDIS_URL: 'redis://127.0.0.1:1',
  };
  const config = readConfig({ LOG_LEVEL: 'silent', ADMIN_API_KEY: ADMIN_KEY, ...several });
  const { server } = await createApp(config, gateway.database);
  const answer = await server.inject({ url: '/metrics', headers: { 'x-api-key': ADMIN_KEY } });
  expect(answer.json()).toMatchObject({
    code: 'NOT_FOUND',
    status: 404,
    message: 'With WEB_CONCURRENCY above 1, metrics are served on METRICS_PORT only.',
  });
  await server.close();
});
