import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { CAN_START_HAPROXY, HaProxy } from '../helper/haproxy';
import { ask } from '../helper/load';
import { CAN_START_POSTGRES, PostgresServer } from '../helper/postgres-server';
import { GatewayProcess } from '../helper/process';
import { environmentOf } from '../helper/production';
import { HEADERS, isServed } from '../helper/traffic';
import { until } from '../helper/until';

const POOL_SIZE = 8;
const WRITES_PER_SECOND = 60;

/**
 * Sends writes at a constant rate: categories and orders alternately. A category is sent once. An order is sent with an
 * idempotency key until it is acknowledged. Its unique quantity identifies it in the database.
 */
class Writes {
  readonly categories: string[] = [];
  readonly orders: number[] = [];
  /** The times when acknowledged writes were sent, in milliseconds. */
  readonly times: number[] = [];
  /** Responses other than 2xx, 503, and 409 (the order's earlier attempt is still running). */
  readonly wrong: unknown[] = [];
  private readonly pending: Promise<void>[] = [];
  private isGivenUp = false;
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly url: string) {
    this.timer = setInterval(() => this.pending.push(this.write(this.pending.length)), 1000 / WRITES_PER_SECOND);
  }

  /** @param isGivenUp whether to stop sending orders that are not acknowledged yet. */
  async stop(isGivenUp = false): Promise<void> {
    clearInterval(this.timer);
    this.isGivenUp = isGivenUp;
    await Promise.all(this.pending);
  }

  private async write(n: number): Promise<void> {
    if (n % 2) {
      const body = await this.post('/categories', { name: `Kind ${n}` });
      if (body) this.categories.push(String(JSON.parse(body).id));
      return;
    }
    while (!this.isGivenUp) {
      if (await this.post('/store/orders', { quantity: n + 1 }, { 'idempotency-key': `order-${n}` })) {
        this.orders.push(n + 1);
        return;
      }
      await sleep(200);
    }
  }

  /** @returns the response body; `undefined` if the write was not acknowledged. */
  private async post(path: string, value: object, more = {}): Promise<string | undefined> {
    const headers = { ...HEADERS, ...more };
    const tried = await ask(this.url, { method: 'POST', path, headers, body: JSON.stringify(value) });
    if (isServed(tried)) {
      this.times.push(tried.at);
      return tried.body;
    }
    if (tried.status !== 503 && tried.status !== 409) this.wrong.push(tried);
    return undefined;
  }
}

/** Starts an HTTP server that tells HAProxy whether a server is the primary, as Patroni's REST API does. */
async function startAgent(server: PostgresServer) {
  const agent = createServer(async (_request, response) => {
    const rows = await server.query('select pg_is_in_recovery() as is').catch(() => []);
    response.writeHead(rows[0]?.is === false ? 200 : 503).end();
  }).listen(0, '127.0.0.1');
  await once(agent, 'listening');
  const { port } = agent.address() as AddressInfo;
  return { agent, check: `server s${server.port} 127.0.0.1:${server.port} check port ${port}` };
}

/** Starts a primary and a synchronous standby. A write is acknowledged only when both servers have stored it. */
async function startPair(): Promise<[PostgresServer, PostgresServer]> {
  const primary = await PostgresServer.start({ synchronous_standby_names: '*', synchronous_commit: 'local' });
  const standby = await PostgresServer.follow(primary);
  const followers = "select from pg_stat_replication where sync_state = 'sync'";
  await until(async () => (await primary.query(followers)).length === 1, 20);
  await primary.query('alter system set synchronous_commit to on');
  await primary.query('select pg_reload_conf()');
  return [primary, standby];
}

const onServers = CAN_START_POSTGRES && CAN_START_HAPROXY ? test : test.skip;

onServers(
  'no acknowledged write is lost or doubled when the primary behind HAProxy crashes and its standby is promoted',
  async () => {
    const [primary, standby] = await startPair();
    const servers = [primary, standby];
    const agents = await Promise.all(servers.map(startAgent));
    const proxy = await HaProxy.start([
      'mode tcp',
      'option httpchk GET /primary',
      'default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions',
      ...agents.map(({ check }) => check),
    ]);
    const gateway = await GatewayProcess.start({
      ...environmentOf(`postgresql://postgres@${proxy.host}/postgres`),
      REQUEST_TIMEOUT_MS: '5000',
      DATABASE_POOL_SIZE: String(POOL_SIZE),
    });
    await primary.query('update api_keys set per_minute = 2147483647, per_day = 2147483647');
    const writes = new Writes(gateway.url);
    const probes: { at: number; status: number | undefined }[] = [];
    let mostConnections = 0;
    let isPromoted = false;
    const watch = setInterval(async () => {
      const at = performance.now();
      probes.push({ at, status: (await ask(gateway.url, { path: '/readyz' })).status });
      if (!isPromoted) return;
      const sessions = `select from pg_stat_activity where application_name = 'petstore-gateway'`;
      mostConnections = Math.max(mostConnections, (await standby.query(sessions).catch(() => [])).length);
    }, 100);
    try {
      await until(() => writes.categories.length > 100, 60);
      const failedAt = performance.now();
      await primary.stop('SIGQUIT');
      await sleep(3000);
      await standby.promote();
      const promotedAt = performance.now();
      isPromoted = true;
      await until(() => (writes.times.at(-1) ?? 0) > promotedAt, 30);
      await sleep(4000);
      await writes.stop();
      clearInterval(watch);

      const kept = new Set((await standby.query('select id from categories')).map(({ id }) => String(id)));
      expect(writes.categories.filter((id) => !kept.has(id))).toEqual([]);
      const orders = await standby.query('select quantity, count(*)::int as n from orders group by 1');
      const counts = new Map(orders.map(({ quantity, n }) => [quantity as number, n as number]));
      expect(writes.orders.filter((quantity) => counts.get(quantity) !== 1)).toEqual([]);
      expect(writes.wrong).toEqual([]);
      expect(writes.times.length).toBeGreaterThan(200);

      const statuses = (from: number, to: number) => [
        ...new Set(probes.filter(({ at }) => at > from && at < to).map(({ status }) => status)),
      ];
      const first = (times: number[]) => Math.min(...times.filter((at) => at > promotedAt)) - promotedAt;
      const readyAfter = first(probes.filter(({ status }) => status === 200).map(({ at }) => at));
      process.stderr.write(
        `failover: writes after ${Math.round(first(writes.times))} ms, ready after ${Math.round(readyAfter)} ms\n`,
      );
      expect(first(writes.times)).toBeLessThan(5000);
      expect(readyAfter).toBeLessThan(2000);
      expect(statuses(failedAt + 2000, promotedAt - 100)).toEqual([503]);
      expect(statuses(promotedAt + 2000, performance.now())).toEqual([200]);
      expect(mostConnections).toBeLessThanOrEqual(POOL_SIZE + 3);
    } finally {
      await writes.stop(true);
      clearInterval(watch);
      await gateway.stop('SIGKILL');
      await proxy.remove();
      for (const { agent } of agents) agent.close();
      await Promise.all(servers.map((server) => server.remove()));
    }
  },
);
