import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { ask } from './load';
import { PostgresServer } from './postgres-server';
import { GatewayProcess } from './process';
import { environmentOf } from './production';
import { HEADERS, isServed } from './traffic';
import { until } from './until';

const POOL_SIZE = 8;
const WRITES_PER_SECOND = 60;
const REQUEST_TIMEOUT_MS = 5000;

/** A primary that acknowledges a write once its standby has it, too. */
export interface Pair {
  readonly primary: PostgresServer;
  readonly standby: PostgresServer;
  remove(): Promise<void>;
}

export async function startPair(): Promise<Pair> {
  const primary = await PostgresServer.start({ synchronous_standby_names: '*', synchronous_commit: 'local' });
  await until(() => query(primary.url, 'select').then(Boolean, () => false), 20);
  const standby = await PostgresServer.follow(primary);
  const isFollowed = "select from pg_stat_replication where sync_state = 'sync'";
  await until(async () => (await query(primary.url, isFollowed)).length === 1, 20);
  await query(primary.url, 'alter system set synchronous_commit to on');
  await query(primary.url, 'select pg_reload_conf()');
  return {
    primary,
    standby,
    remove: async () => {
      await Promise.all([primary.remove(), standby.remove()]);
    },
  };
}

/** What happened, in milliseconds of `performance.now()`. */
export interface Outcome {
  readonly failedAt: number;
  readonly promotedAt: number;
  /** When the first write after the failure was sent that was acknowledged. */
  readonly writesAt: number;
  /** What `/readyz` answered. */
  readonly probes: readonly { readonly at: number; readonly status: number | undefined }[];
  /** Acknowledged writes that are missing; orders that are there twice, and acknowledged ones that are not there. */
  readonly lost: number;
  readonly doubled: number;
  readonly acknowledged: number;
  /** Answers that are neither 2xx nor 503. */
  readonly wrong: readonly unknown[];
  readonly mostConnections: number;
}

/**
 * Makes the primary fail while a gateway writes, and promotes the standby 3 s later. Half of the writes are orders, which are
 * sent again with their idempotency key until they are acknowledged.
 * @param url of the gateway's database.
 */
export async function failOver({ primary, standby }: Pair, url: string, fail: () => Promise<void>): Promise<Outcome> {
  const gateway = await GatewayProcess.start({
    ...environmentOf(url),
    REQUEST_TIMEOUT_MS: String(REQUEST_TIMEOUT_MS),
    DATABASE_POOL_SIZE: String(POOL_SIZE),
  });
  await query(primary.url, 'update api_keys set per_minute = 2147483647, per_day = 2147483647');
  const writes = new Writes(gateway.url);
  const probes: { at: number; status: number | undefined }[] = [];
  let mostConnections = 0;
  let isOver = false;
  const probing = setInterval(async () => {
    const at = performance.now();
    const { status } = await ask(gateway.url, { path: '/readyz' });
    // One that the end of the gateway cuts off says nothing about the servers.
    if (!isOver) probes.push({ at, status });
  }, 100);
  try {
    await until(async () => writes.acknowledged.length > 100, 60);
    const failedAt = performance.now();
    await fail();
    await sleep(3000);
    await standby.promote();
    const promotedAt = performance.now();
    const counting = setInterval(async () => {
      mostConnections = Math.max(mostConnections, await connections(standby.url));
    }, 100);
    await until(async () => writes.lastSentAt > promotedAt, 30);
    await sleep(4000);
    clearInterval(counting);
    const wrong = await writes.stop();
    const writesAt = writes.firstAfter(promotedAt);
    const there = new Set((await query(standby.url, 'select id from categories')).map(({ id }) => String(id)));
    const orders = await query(standby.url, 'select quantity, count(*)::int as n from orders group by 1');
    const counts = new Map(orders.map(({ quantity, n }) => [quantity as number, n as number]));
    return {
      failedAt,
      promotedAt,
      writesAt,
      probes,
      acknowledged: writes.acknowledged.length + writes.keyed.length,
      lost:
        writes.acknowledged.filter((id) => !there.has(id)).length + writes.keyed.filter((n) => !counts.has(n)).length,
      doubled: [...counts.values()].filter((n) => n > 1).length,
      wrong,
      mostConnections,
    };
  } finally {
    await writes.stop(true);
    clearInterval(probing);
    isOver = true;
    await gateway.stop('SIGKILL');
  }
}

/** Service as it is promised in docs/postgresql.md. */
export function expectService(outcome: Outcome): void {
  const { failedAt, promotedAt, writesAt, probes, lost, doubled, acknowledged, wrong, mostConnections } = outcome;
  const statuses = (from: number, to: number) =>
    new Set(probes.filter(({ at }) => at > from && at < to).map(({ status }) => status));
  const readyAt = Math.min(...probes.filter(({ at, status }) => at > promotedAt && status === 200).map(({ at }) => at));
  process.stderr.write(
    `failover: ${acknowledged} acknowledged, writes after ${Math.round(writesAt - promotedAt)} ms, ready after ${Math.round(readyAt - promotedAt)} ms, at most ${mostConnections} connections\n`,
  );
  expect({ lost, doubled, wrong }).toEqual({ lost: 0, doubled: 0, wrong: [] });
  expect(acknowledged).toBeGreaterThan(200);
  expect(writesAt - promotedAt).toBeLessThan(5000);
  expect(readyAt - promotedAt).toBeLessThan(2000);
  expect(statuses(failedAt + 2000, promotedAt - 100)).toEqual(new Set([503]));
  expect(statuses(promotedAt + 2000, Number.POSITIVE_INFINITY)).toEqual(new Set([200]));
  expect(mostConnections).toBeLessThanOrEqual(POOL_SIZE + 3);
}

/** Writes at a constant rate: categories once each, and orders, known by their quantity, until they are acknowledged. */
class Writes {
  /** Ids of categories. */
  readonly acknowledged: string[] = [];
  /** Quantities of orders. */
  readonly keyed: number[] = [];
  private readonly times: number[] = [];
  private readonly wrong: unknown[] = [];
  private readonly pending = new Set<Promise<void>>();
  private readonly timer: NodeJS.Timeout;
  private sent = 0;
  private isLeft = false;

  constructor(private readonly url: string) {
    this.timer = setInterval(() => {
      const writing = this.write(++this.sent);
      this.pending.add(writing);
      void writing.then(() => this.pending.delete(writing));
    }, 1000 / WRITES_PER_SECOND);
  }

  /** When the last acknowledged write was sent. */
  get lastSentAt(): number {
    return this.times.at(-1) ?? 0;
  }

  firstAfter(time: number): number {
    return Math.min(...this.times.filter((at) => at > time));
  }

  /** @param isLeft whether orders that are not acknowledged yet are given up. */
  async stop(isLeft = false): Promise<unknown[]> {
    clearInterval(this.timer);
    this.isLeft = isLeft;
    await Promise.all(this.pending);
    return this.wrong;
  }

  private async write(n: number): Promise<void> {
    if (n % 2) {
      const body = await this.post('/categories', { name: `Kind ${n}` });
      if (body) this.acknowledged.push(String(JSON.parse(body).id));
      return;
    }
    while (!this.isLeft) {
      if (await this.post('/store/orders', { quantity: n }, { 'idempotency-key': `order-${n}` })) {
        this.keyed.push(n);
        return;
      }
      await sleep(200);
    }
  }

  /** @returns the body if it was acknowledged. */
  private async post(path: string, value: object, more: Record<string, string> = {}): Promise<string | undefined> {
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

function connections(url: string): Promise<number> {
  return query(url, "select from pg_stat_activity where application_name = 'petstore-gateway'").then(
    ({ length }) => length,
    () => 0,
  );
}

async function query(connectionString: string, sql: string) {
  const client = new Client({ connectionString }).on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
