import { allAnswered, burstBefore } from './helper/burst';
import { ADMIN_KEY } from './helper/gateway';
import { Installation } from './helper/installation';
import { ask } from './helper/load';
import { GatewayProcess, NPM_START } from './helper/process';
import { createProduction, onServers } from './helper/production';
import { expectNoLossAt } from './helper/shutdown';
import { unfinished } from './helper/unfinished';

let installation: Installation;
beforeEach(() => {
  installation = new Installation({ ADMIN_API_KEY: ADMIN_KEY, MAX_EVENT_LOOP_LAG_MS: '60000' });
});
afterEach(() => installation.remove());

test('SIGTERM under load drops no request and exits with 0, after readiness has been off for 700 ms; every acknowledged write is there after the next start', () =>
  expectNoLossAt(700, installation));

const CONNECTIONS = 100;

test('100 connections opened just before SIGTERM are all answered', async () => {
  expect(await burstBefore(await installation.start(), CONNECTIONS)).toEqual(allAnswered(CONNECTIONS));
});

onServers('several workers', () => {
  test('answer 100 connections opened just before SIGTERM', async () => {
    const { environment, drop } = await createProduction();
    const gateway = await GatewayProcess.start({ ...environment, WEB_CONCURRENCY: '2' });
    expect(await burstBefore(gateway, CONNECTIONS)).toEqual(allAnswered(CONNECTIONS));
    await drop();
  });
});

test('`npm start` passes signals on to the gateway', async () => {
  const environment = { PATH: process.env.PATH ?? '', HOME: installation.directory };
  const gateway = await GatewayProcess.start({ DATA_DIR: installation.data, ...environment }, NPM_START);
  expect(await gateway.stop('SIGTERM')).toMatchObject({ code: 0, signal: null });
  expect((await ask(gateway.url, { path: '/livez' })).error).toBe('ECONNREFUSED');
});

test('requests that take more than 10 seconds are not waited for', async () => {
  const gateway = await installation.start({ REQUEST_TIMEOUT_MS: '60000' });
  const socket = await unfinished(gateway.url);
  const started = performance.now();
  expect(await gateway.stop('SIGTERM')).toMatchObject({ code: 0, signal: null });
  const seconds = (performance.now() - started) / 1000;
  expect(seconds).toBeGreaterThan(9);
  expect(seconds).toBeLessThan(15);
  socket.destroy();
});
