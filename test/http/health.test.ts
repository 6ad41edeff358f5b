import { setTimeout as sleep } from 'node:timers/promises';
import { createApp } from '../../src/app/app';
import { readConfig } from '../../src/app/config';
import { ADMIN_KEY, type Gateway, startGateway } from '../helper/gateway';
import { socketClient } from '../helper/live';
import { toldBy } from '../helper/standing';
import { until } from '../helper/until';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({});
});
afterAll(() => gateway.close());
afterEach(() => jest.restoreAllMocks());

const get = (url: string, headers: Record<string, string | undefined> = {}) =>
  gateway.server.inject({ url, headers: JSON.parse(JSON.stringify(headers)) });

/** Waits until `/readyz` has this status. The gateway caches readiness for half a second. */
const untilReady = (status: number) => until(async () => (await get('/readyz')).statusCode === status);

test('/livez and /readyz of a healthy process respond 200 and list the checks', async () => {
  const [live, ready] = [await get('/livez'), await get('/readyz')];
  expect([live.statusCode, live.json()]).toEqual([200, { status: 'ok', checks: { process: 'ok' } }]);
  expect([ready.statusCode, ready.json()]).toEqual([
    200,
    { status: 'ok', checks: { process: 'ok', database: 'ok', limits: 'memory' } },
  ]);
  expect(ready.headers['cache-control']).toBe('no-store');
  expect((await gateway.server.inject({ method: 'HEAD', url: '/readyz' })).statusCode).toBe(200);
  expect((await gateway.server.inject({ method: 'POST', url: '/readyz' })).statusCode).toBe(405);
});

test('/livez and /readyz use no quota, have rate limit headers, and respond to rejected and banned callers', async () => {
  for (const url of ['/livez', '/readyz']) {
    const first = toldBy((await get(url)).headers);
    expect(toldBy((await get(url)).headers).remaining).toBe(first.remaining);
    expect((await get(url, { 'x-api-key': 'nonsense' })).statusCode).toBe(200);
  }
  const strict = await gateway.another({ ANONYMOUS_ACCESS: 'none', BAN_AFTER: '1' });
  const statuses = async (url: string, times: number) => {
    const answers = [];
    for (let i = 0; i < times; i++) answers.push((await strict.server.inject({ url })).statusCode);
    return new Set(answers);
  };
  await statuses('/nowhere', 62);
  expect(await statuses('/nowhere', 1)).toEqual(new Set([429]));
  expect(await statuses('/readyz', 3)).toEqual(new Set([200]));
  await strict.server.close();
});

test('while the database does not respond, /readyz fails with an Error object and Retry-After, and /livez succeeds', async () => {
  const asked = jest.spyOn(gateway.database, 'canWrite').mockRejectedValue(new Error('gone: secret@host'));
  await untilReady(503);
  const ready = await get('/readyz');
  expect(ready.json()).toEqual({
    code: 'SERVICE_UNAVAILABLE',
    message: 'Not ready: the database does not respond.',
    status: 503,
    details: [{ path: 'database', message: 'does not respond' }],
    requestId: expect.any(String),
  });
  expect(Number(ready.headers['retry-after'])).toBeGreaterThan(0);
  expect((await get('/livez')).statusCode).toBe(200);
  asked.mockRestore();
  await untilReady(200);
});

test('/livez and /readyz do not wait for the look-up of a key', async () => {
  const apiKey = { findUnique: () => new Promise(() => undefined) };
  jest.replaceProperty(gateway.database, 'prisma', { apiKey } as never);
  const headers = { 'x-api-key': `ps_zzzzzzzzzzzz_${'z'.repeat(32)}` };
  const answers = Promise.all(['/livez', '/readyz'].map((url) => get(url, headers)));
  const inTime = await Promise.race([answers, sleep(2000, [])]);
  expect(inTime.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
});

test('if the database hangs, /readyz responds after about a second, and only one check runs at a time', async () => {
  let answer = () => {};
  const asked = jest.spyOn(gateway.database, 'canWrite').mockImplementation(
    () =>
      new Promise((resolve) => {
        answer = () => resolve(true);
      }),
  );
  await until(async () => asked.mock.calls.length > 0 || (await get('/readyz')).statusCode === 503);
  const start = performance.now();
  const answers = await Promise.all(Array.from({ length: 20 }, () => get('/readyz')));
  expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([503]));
  expect(performance.now() - start).toBeLessThan(2500);
  expect(asked).toHaveBeenCalledTimes(1);
  asked.mockRestore();
  answer();
  await untilReady(200);
});

test('/readyz fails once the process is shutting down, while other requests are still served', async () => {
  const config = readConfig({ LOG_LEVEL: 'silent', ADMIN_API_KEY: ADMIN_KEY });
  const { server, drain } = await createApp(config, gateway.database);
  const url = await server.listen({ port: 0, host: '127.0.0.1' });
  const ended = drain.closePort(500).then(() => drain.finish());
  const ready = await fetch(`${url}/readyz`);
  expect(ready.status).toBe(503);
  expect(await ready.json()).toMatchObject({ details: [{ path: 'process', message: 'is shutting down' }] });
  expect((await fetch(`${url}/livez`)).status).toBe(200);
  expect((await fetch(`${url}/pets`)).status).toBe(200);
  await ended;
  await expect(fetch(`${url}/livez`)).rejects.toThrow();
});

test('on shutdown, an operation over WebSocket gets its result before the connection closes', async () => {
  const config = readConfig({ LOG_LEVEL: 'silent', ADMIN_API_KEY: ADMIN_KEY });
  const { server, drain } = await createApp(config, gateway.database);
  const client = socketClient(await server.listen({ port: 0, host: '127.0.0.1' }), { apiKey: ADMIN_KEY });
  client.subscribe('subscription { petChanged { petId } }');
  const query = gateway.database.query.bind(gateway.database);
  const slow = jest.spyOn(gateway.database, 'query').mockImplementation(async (...args) => {
    await sleep(150);
    return query(...args) as Promise<never[]>;
  });
  const asked = client.subscribe('{ pets { totalCount } }');
  await until(async () => slow.mock.calls.some(([{ text }]) => text.includes('count')));
  const ended = drain.finish();
  const refused = client.subscribe('{ pets { totalCount } }');
  expect(await asked.until(1)).toMatchObject([{ data: { pets: { totalCount: expect.any(Number) } } }]);
  expect((await refused.untilOver()).error).toMatchObject([{ extensions: { code: 'SERVICE_UNAVAILABLE' } }]);
  await ended;
  slow.mockRestore();
});
