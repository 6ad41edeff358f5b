import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { createDatabase, TEST_DATABASE_URL } from '../helper/database';
import { type Gateway, startGatewayOn } from '../helper/gateway';
import { ask, Load } from '../helper/load';
import { TcpProxy } from '../helper/tcp-proxy';
import { isServed, mixed } from '../helper/traffic';
import { until } from '../helper/until';

const POOL_SIZE = 6;
/** The connections of the pool, and the connection of the readiness check. */
const MOST = POOL_SIZE + 1;
/** Two more sockets: one for a cancel request, and one for a connection that is closing. */
const MOST_SOCKETS = MOST + 2;
const NAME = 'bounded';

const SOCKETS = '/proc/net/tcp';
const onPostgres = TEST_DATABASE_URL && existsSync(SOCKETS) ? describe : describe.skip;

onPostgres('the gateway opens at most DATABASE_POOL_SIZE + 3 connections', () => {
  let home: Awaited<ReturnType<typeof createDatabase>>;
  let proxy: TcpProxy;
  let gateway: Gateway;
  let url: string;
  let direct: Client;
  let observer: Client;
  beforeAll(async () => {
    home = await createDatabase();
    proxy = await TcpProxy.start(home.url ?? '');
    gateway = await startGatewayOn(`${proxy.url}?application_name=${NAME}`, {
      DATABASE_POOL_SIZE: String(POOL_SIZE),
      REQUEST_TIMEOUT_MS: '1500',
    });
    url = await gateway.listen();
    direct = new Client(home.url);
    observer = new Client(home.url);
    await Promise.all([direct.connect(), observer.connect()]);
  });
  afterAll(async () => {
    await direct?.end();
    await observer?.end();
    await gateway?.close();
    await proxy?.close();
    await home?.drop();
  });

  const counted = async () =>
    (await observer.query('select from pg_stat_activity where application_name = $1', [NAME])).rows.length;

  test.each<[string, () => unknown, () => unknown]>([
    ['the server does not respond', () => proxy.fallSilent(), () => proxy.speak()],
    ['the server is unreachable', () => proxy.goAway(), () => proxy.comeBack()],
    [
      'every statement waits for a lock',
      () => direct.query('begin; lock table categories in access exclusive mode'),
      () => direct.query('rollback'),
    ],
  ])('while %s, and afterwards', async (what, begin, end) => {
    const load = new Load(url, 20, mixed, 5);
    const served = (from: number) => until(() => load.tried.slice(from).filter(isServed).length > 50, 20);
    let most = 0;
    let mostCounted = 0;
    const watch = setInterval(async () => {
      most = Math.max(most, socketsTo(Number(new URL(proxy.url).port)));
      void ask(url, { path: '/readyz' });
      mostCounted = Math.max(mostCounted, await counted());
    }, 10);
    await served(0);
    await begin();
    await sleep(3500);
    await end();
    await served(load.tried.length);
    await load.stop();
    clearInterval(watch);
    expect(most).toBeGreaterThanOrEqual(POOL_SIZE - 2);
    expect(most).toBeLessThanOrEqual(MOST_SOCKETS);
    // Checked only with the lock, because an unreachable server does not notice at once that connections were closed.
    if (what.includes('lock')) expect(mostCounted).toBeLessThanOrEqual(MOST);
    await until(async () => (await counted()) <= MOST);
  });
});

/** The number of established or connecting TCP sockets to a remote port, according to Linux. */
function socketsTo(port: number): number {
  const remote = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return readFileSync(SOCKETS, 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , to = '', state = '']) => to.endsWith(remote) && ['01', '02'].includes(state)).length;
}
