import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { openDatabase } from '../../src/database/open';
import { createDatabase, TEST_DATABASE_URL } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';
import { ask, Load } from '../helper/load';
import { TcpProxy } from '../helper/tcp-proxy';
import { isServed, mixed } from '../helper/traffic';
import { until } from '../helper/until';

const POOL_SIZE = 6;
/** With the probe, as documented. */
const MOST = POOL_SIZE + 1;
/** Each connection of the pool may need another for a moment, to cancel its statement: the server does not count these. */
const MOST_SOCKETS = MOST + POOL_SIZE;
const NAME = 'bounded';

const TABLE = '/proc/net/tcp';
const onPostgres = TEST_DATABASE_URL && existsSync(TABLE) ? describe : describe.skip;

onPostgres('connections to the server are at most those of the pool and one', () => {
  let home: Awaited<ReturnType<typeof createDatabase>>;
  let proxy: TcpProxy;
  let gateway: Gateway;
  let direct: Client;
  let observer: Client;
  let url: string;
  beforeAll(async () => {
    home = await createDatabase();
    proxy = await TcpProxy.start(home.url ?? '');
    const database = await openDatabase({
      url: `${proxy.url}?application_name=${NAME}`,
      directory: '',
      poolSize: POOL_SIZE,
      requestTimeoutMs: 1500,
    });
    const settings = { REQUEST_TIMEOUT_MS: '1500', MAX_EVENT_LOOP_LAG_MS: '60000' };
    gateway = await startGateway(settings, Date.now, { database, drop: () => database.close() });
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

  const lock = () => direct.query('begin; lock table categories in access exclusive mode');
  const unlock = () => direct.query('rollback');
  const counted = async () =>
    (await observer.query('select from pg_stat_activity where application_name = $1', [NAME])).rows.length;

  test.each<[string, () => unknown, () => unknown]>([
    ['while the server cannot be reached, and afterwards', () => proxy.fallSilent(), () => proxy.speak()],
    ['while the server is gone, and afterwards', () => proxy.goAway(), () => proxy.comeBack()],
    ['while every statement waits for a lock, and afterwards', lock, unlock],
  ])('%s', async (what, begin, end) => {
    const load = new Load(url, 20, mixed, 5);
    let most = 0;
    let mostCounted = 0;
    const watch = setInterval(async () => {
      most = Math.max(most, openTo(Number(new URL(proxy.url).port)));
      void ask(url, { path: '/readyz' });
      mostCounted = Math.max(mostCounted, await counted());
    }, 10);
    await until(async () => load.tried.filter(isServed).length > 50, 20);
    await begin();
    await sleep(3500);
    await end();
    const then = load.tried.length;
    await until(async () => load.tried.slice(then).filter(isServed).length > 50, 20);
    await load.stop();
    clearInterval(watch);
    expect(most).toBeGreaterThan(POOL_SIZE - 2);
    expect(most).toBeLessThanOrEqual(MOST_SOCKETS);
    // Where the network is broken, the server does not know for a while which connections are.
    if (what.includes('lock')) expect(mostCounted).toBeLessThanOrEqual(MOST);
    await until(async () => (await counted()) <= MOST);
  });
});

/** Number of connections to a port that are open or being opened, by the end that opened them. */
function openTo(port: number): number {
  const remote = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const isOpen = (line: string) => {
    const [, , to = '', state = ''] = line.trim().split(/\s+/);
    return to.endsWith(remote) && (state === '01' || state === '02');
  };
  return readFileSync(TABLE, 'utf8').split('\n').filter(isOpen).length;
}
