import { Caddy, NO_CADDY } from '../helper/caddy';
import { readCompose } from '../helper/compose';
import { freePort } from '../helper/free-port';
import { Load, outcomes } from '../helper/load';
import { accepts } from '../helper/pgbouncer';
import { PostgresServer } from '../helper/postgres-server';
import { GatewayProcess } from '../helper/process';
import { environmentOf } from '../helper/production';
import { REDIS_BINARY, RedisServer } from '../helper/redis-server';
import { HEADERS, mixed } from '../helper/traffic';
import { until } from '../helper/until';

const { services, configs } = readCompose();
const GATEWAYS = ['gateway-1', 'gateway-2'] as const;

describe('what compose.yaml describes, on the servers of this machine', () => {
  let postgres: PostgresServer;
  let redis: RedisServer;
  let caddy: Caddy | undefined;
  const ports: Record<string, number> = {};
  const running = new Map<string, GatewayProcess>();
  beforeAll(async () => {
    if (NO_CADDY) throw new Error(NO_CADDY);
    redis = await RedisServer.start(REDIS_BINARY ?? '', services.redis?.command?.slice(1));
    postgres = await PostgresServer.start();
    await until(() => accepts(postgres.port));
    for (const name of GATEWAYS) ports[name] = await freePort();
  });
  afterAll(async () => {
    await caddy?.remove();
    await Promise.all([...running.values()].map((gateway) => gateway.stopAll('SIGKILL')));
    await postgres?.remove();
    await redis?.remove();
  });

  const start = async (name: string) => {
    const own = Object.entries(services[name]?.environment ?? {}).map(([key, value]) => [key, String(value)]);
    const here = { ...environmentOf(postgres.url, redis.url), PORT: String(ports[name]) };
    running.set(name, await GatewayProcess.start({ ...Object.fromEntries(own), ...here }));
  };

  test('each gateway is replaced under load, one after the other, without a failed request', async () => {
    for (const name of GATEWAYS) await start(name);
    await until(async () => (await workers()) === 4, 30);
    const caddyfile = configs.caddyfile.content.replace(/(gateway-\d):4000/g, (_, name) => `127.0.0.1:${ports[name]}`);
    const proxy = await Caddy.start(caddyfile);
    caddy = proxy;
    await until(async () => (await fetch(`${proxy.url}/readyz`)).ok, 20);
    await running.get('gateway-1')?.graphql('mutation { createCategory(input: { name: "Dogs" }) { id } }', HEADERS);
    const load = new Load(proxy.url, 8, mixed, 5);
    const served = async (more: number) => {
      const before = load.tried.length;
      await until(async () => load.tried.length > before + more, 30);
    };
    for (const name of GATEWAYS) {
      await served(200);
      expect(await running.get(name)?.stop()).toMatchObject({ code: 0, stderr: '' });
      await start(name);
      await until(async () => (await workers()) === 4, 30);
    }
    await served(200);
    const tried = await load.stop();
    process.stderr.write(`replaced behind Caddy: ${JSON.stringify(outcomes(tried))}\n`);
    expect(Object.keys(outcomes(tried)).sort()).toEqual(['200', '201']);
    expect(tried.length).toBeGreaterThan(1000);
  });

  async function workers(): Promise<number> {
    const serving = await Promise.all([...running.values()].map((gateway) => gateway.serving()));
    return serving.reduce((sum, number) => sum + number, 0);
  }
});
