import { execFileSync } from 'node:child_process';
import { Redis } from 'ioredis';
import { PLANS } from '../../src/rate-limit/plans';
import { freePort } from '../helper/free-port';
import { ADMIN_KEY } from '../helper/gateway';
import { Installation } from '../helper/installation';
import { ask, Load } from '../helper/load';
import type { GatewayProcess } from '../helper/process';
import { REDIS_BINARY, RedisServer } from '../helper/redis-server';
import { HEADERS, isServed, mixed } from '../helper/traffic';
import { until } from '../helper/until';
import { CLUSTER_RULES, RULES, SENTINEL_RULES } from '../redis/documented-user';
import { allowed, Instance } from '../redis/instance';

const onOwnServers = REDIS_BINARY ? describe : describe.skip;
const binary = REDIS_BINARY ?? '';

/** A Redis installation that survives the loss of one server. Its URL uses the documented users. */
interface Redundant {
  readonly url: string;
  readonly servers: readonly RedisServer[];
  readonly masters: readonly RedisServer[];
  /** The master that counts a caller's requests, the replica of this master, and the key of the caller's counters. */
  serversOf(caller: string): Promise<{ master: RedisServer; replica: RedisServer; key: string }>;
}

const grant = (servers: readonly RedisServer[], ...user: string[]) =>
  Promise.all(servers.map((server) => server.ask(['ACL', 'SETUSER', ...user])));

/** Starts a master, its replica, and three Sentinels: the smallest installation with Sentinels that survives a failure. */
async function sentinels(): Promise<Redundant> {
  const master = await RedisServer.start(binary);
  const replica = await RedisServer.start(binary, ['--replicaof', `127.0.0.1 ${master.port}`]);
  const watch = [
    `sentinel monitor petstore 127.0.0.1 ${master.port} 2`,
    'sentinel down-after-milliseconds petstore 1000',
    'sentinel failover-timeout petstore 5000',
  ];
  const watchers = await Promise.all([1, 2, 3].map(() => RedisServer.startSentinel(binary, watch)));
  await until(() => replica.follows(), 30);
  // Sentinels find each other, and the replica, through the master.
  const found = async (sentinel: RedisServer, question: string) =>
    ((await sentinel.call(['SENTINEL', question, 'petstore'])) as unknown[]).length;
  for (const sentinel of watchers)
    await until(
      async () => (await found(sentinel, 'SENTINELS')) === 2 && (await found(sentinel, 'REPLICAS')) === 1,
      30,
    );
  await grant([master, replica], 'petstore', ...RULES);
  await grant(watchers, 'watcher', 'on', '>other', ...SENTINEL_RULES);
  const hosts = watchers.map(({ host }) => host).join(',');
  const servers = [master, replica, ...watchers];
  return {
    url: `redis+sentinel://petstore:secret@${hosts}/petstore?sentinel_username=watcher&sentinel_password=other`,
    servers,
    masters: [master],
    serversOf: async (caller) => ({ master, replica, key: `ratelimit:${caller}` }),
  };
}

type SlotRange = [first: number, last: number, ...servers: [host: string, port: number][]];

/** Starts a cluster of three masters, each with a third of the slots and one replica. */
async function cluster(): Promise<Redundant> {
  const nodes = await Promise.all(
    Array.from({ length: 6 }, async () => {
      const bus = ['--cluster-node-timeout', '1500', '--cluster-port', String(await freePort())];
      return RedisServer.start(binary, ['--cluster-enabled', 'yes', ...bus]);
    }),
  );
  const hosts = nodes.map(({ host }) => host);
  execFileSync('redis-cli', ['--cluster', 'create', ...hosts, '--cluster-replicas', '1', '--cluster-yes']);
  const ranges = async (node: RedisServer) => (await node.call(['CLUSTER', 'SLOTS'])) as SlotRange[];
  for (const node of nodes)
    await until(async () => {
      const known = await ranges(node);
      const isOk = (await node.ask(['CLUSTER', 'INFO'])).includes('cluster_state:ok');
      return isOk && known.length === 3 && known.every(({ length }) => length === 4);
    }, 30);
  await grant(nodes, 'petstore', ...RULES, ...CLUSTER_RULES);
  return {
    url: `redis+cluster://petstore:secret@${hosts.slice(0, 2).join(',')}`,
    servers: nodes,
    masters: nodes.slice(0, 3),
    serversOf: async (caller) => {
      const key = `ratelimit:{${caller}}`;
      const [first] = nodes as [RedisServer];
      const slot = Number(await first.ask(['CLUSTER', 'KEYSLOT', key]));
      const [, , ...servers] = (await ranges(first)).find(([from, to]) => from <= slot && slot <= to) as SlotRange;
      const [master, replica] = servers.map(([, port]) => nodes.find((node) => node.port === port) as RedisServer);
      return { master, replica, key } as { master: RedisServer; replica: RedisServer; key: string };
    },
  };
}

onOwnServers(
  'no request of a gateway under load fails when a Redis master crashes, and limits are exact before and after',
  () => {
    test.each<[string, () => Promise<Redundant>]>([
      ['behind Sentinels', sentinels],
      ['in a cluster', cluster],
    ])('%s', async (form, start) => {
      const redis = await start();
      const installation = new Installation({
        ADMIN_API_KEY: ADMIN_KEY,
        REDIS_URL: redis.url,
        LOG_LEVEL: 'warn',
      });
      const gateway = await installation.running();
      const other = await Instance.start(redis.url);
      // Waits until both limiters have connected to every master, so that no request waits for a connection.
      for (const server of redis.masters)
        await until(async () => (await server.ask(['CLIENT', 'LIST'])).split('name=rate-limit').length === 3);
      const [caller, alone] = [await createKey(gateway), await createKey(gateway)];
      expect(await passed(gateway, caller, 10)).toBe(10);
      expect(await allowed([other], caller.id, 10)).toBe(10);
      const { master, replica, key } = await redis.serversOf(caller.id);
      await until(async () => Number(await copied(replica, key)) === 20);

      const load = new Load(gateway.url, 4, mixed, 25);
      await until(() => load.tried.length > 50);
      const states = new States(gateway, other, caller.id);
      const failedAt = performance.now();
      await master.kill();
      await until(() => states.isAlone, 20);
      expect(await passed(gateway, alone, 60)).toBe(30);
      await until(() => states.isShared, 60);
      const backAfter = Math.round(performance.now() - failedAt);
      states.stop();
      expect(
        (await Promise.all([passed(gateway, caller, 60), allowed([other], caller.id, 60)])).reduce((sum, n) => sum + n),
      ).toBe(40);
      const heard = other.heard.length;
      await gateway.graphql('mutation { createCategory(input: { name: "Dogs" }) { id } }', HEADERS);
      await gateway.graphql('mutation { createPet(input: { name: "Rex", categoryId: 1 }) { id } }', HEADERS);
      await until(() => other.heard.length > heard);
      const tried = await load.stop();
      expect(tried.filter((one) => !isServed(one))).toEqual([]);
      process.stderr.write(
        `${form}: in fallback after ${states.aloneAfter - Math.round(failedAt)} ms, back after ${backAfter} ms, ` +
          `${tried.length} requests, the slowest took ${Math.round(Math.max(...tried.map(({ took }) => took)))} ms\n`,
      );
      const warnings = gateway.stdout.split('\n').filter((line) => line.includes('"limits":"fallback"'));
      expect(warnings.length).toBeGreaterThan(0);
      expect(warnings.length).toBeLessThanOrEqual(3);
      const denied = redis.servers.filter((server) => server !== master).map((server) => server.ask(['ACL', 'LOG']));
      expect((await Promise.all(denied)).join('')).toBe('');
      await other.close();
      await installation.remove();
      await Promise.all(redis.servers.map((server) => server.remove()));
    });
  },
);

/**
 * Watches whether two instances count requests in Redis or in memory. The instance `other` gets no requests during this time,
 * and so would not notice that Redis is unavailable. Therefore, `look` reads a caller's limits from `other`.
 */
class States {
  isAlone = false;
  isShared = false;
  aloneAfter = 0;
  private readonly timer = setInterval(() => void this.look(), 50);

  constructor(
    private readonly gateway: GatewayProcess,
    private readonly other: Instance,
    /** A caller whose counters are on the failing Redis server. */
    private readonly caller: string,
  ) {}

  stop(): void {
    clearInterval(this.timer);
  }

  private async look(): Promise<void> {
    await this.other.limiter.peek({ id: this.caller, quota: PLANS.FREE });
    const { body = '{}' } = await ask(this.gateway.url, { path: '/readyz' });
    const states = [JSON.parse(body).checks?.limits, this.other.limiter.state];
    if (!this.isAlone && states.every((state) => state === 'fallback')) this.aloneAfter = Math.round(performance.now());
    this.isAlone ||= this.aloneAfter > 0;
    this.isShared = states.every((state) => state === 'redis') && this.other.relay.state === 'connected';
  }
}

interface Key {
  readonly id: string;
  readonly headers: Record<string, string>;
}

async function createKey(gateway: GatewayProcess): Promise<Key> {
  const mutation = 'mutation { createApiKey(input: { name: "test" }) { secret apiKey { id } } }';
  const { data } = await gateway.graphql<Created>(mutation, HEADERS);
  return { id: data.createApiKey.apiKey.id, headers: { 'x-api-key': data.createApiKey.secret } };
}

interface Created {
  readonly data: { readonly createApiKey: { readonly secret: string; readonly apiKey: { readonly id: string } } };
}

/** Sends `count` requests of a caller to a gateway. @returns how many were within the rate limit. */
async function passed(gateway: GatewayProcess, { headers }: Key, count: number): Promise<number> {
  const tried = await Promise.all(
    Array.from({ length: count }, () => ask(gateway.url, { path: '/categories', headers })),
  );
  return tried.filter(({ status }) => status === 200).length;
}

/** The number of requests in the current minute, according to the counter that the replica copied from its master. */
async function copied(replica: RedisServer, key: string): Promise<string> {
  const redis = new Redis(replica.url, { readOnly: true });
  const used = await redis.hget(key, 'minuteUsed');
  redis.disconnect();
  return String(used);
}
