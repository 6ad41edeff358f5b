import { connectRedis, faultOf } from '../../src/redis/redis-client';
import { freePort } from '../helper/free-port';
import { REDIS_BINARY, RedisServer } from '../helper/redis-server';
import { until } from '../helper/until';
import { Certificates } from './certificates';
import { allowed, Instance } from './instance';

const canRun = REDIS_BINARY && Certificates.canBeMade ? describe : describe.skip;

canRun('over TLS with a private CA,', () => {
  const servers: RedisServer[] = [];
  let certificates: Certificates;
  let query: string;
  let tls: string[];
  beforeAll(() => {
    certificates = new Certificates();
    const { authority, certificate, key } = certificates;
    query = `sslrootcert=${authority}&sslcert=${certificate}&sslkey=${key}`;
    tls = ['--tls-ca-cert-file', authority, '--tls-cert-file', certificate, '--tls-key-file', key];
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.remove()));
    certificates.remove();
  });

  /** Starts a server that requires a client certificate. @returns the server and its TLS port. */
  async function start(...options: string[]): Promise<{ server: RedisServer; port: number }> {
    const port = await freePort();
    const server = await RedisServer.start(REDIS_BINARY ?? '', ['--tls-port', String(port), ...tls, ...options]);
    servers.push(server);
    return { server, port };
  }

  async function refusal(url: string): Promise<string> {
    const redis = await connectRedis(url).catch((error: Error) => error.message);
    if (typeof redis === 'string') return redis;
    redis.disconnect();
    return redis.status === 'ready' ? 'none' : `not connected: ${faultOf(redis)?.message}`;
  }

  test('the gateway works with a server if the URL names the certificate files, and fails to connect otherwise', async () => {
    const { port } = await start();
    await expectService(`rediss://127.0.0.1:${port}?${query}`);
    expect(await refusal(`rediss://127.0.0.1:${port}`)).toMatch(/^REDIS_URL: TLS fails: .*cert/);
    expect(await refusal(`rediss://localhost:${port}?${query}`)).toMatch(/TLS fails: Hostname\/IP does not match/);
    const authority = query.replace(/&.*/, '');
    expect(await refusal(`rediss://127.0.0.1:${port}?${authority}`)).toMatch(/TLS fails|not connected/);
  });

  test('TLS to a server without TLS, and plain text to a server with TLS, are reported with the remedy', async () => {
    const { server, port } = await start();
    expect(await refusal(`rediss://${server.host}?${query}`)).toMatch(
      /^not connected: .*TLS handshake.* use redis:\/\/ in REDIS_URL\.$/,
    );
    expect(await refusal(`redis://127.0.0.1:${port}`)).toMatch(/^not connected: .* use rediss:\/\/ in REDIS_URL\.$/);
    expect(await refusal(`redis+cluster://127.0.0.1:${port}`)).toMatch(/use rediss:\/\/ in REDIS_URL\.$/);
    expect(await refusal(`rediss+cluster://${server.host}?${query}`)).toMatch(/use redis:\/\/ in REDIS_URL\.$/);
  });

  test('the gateway works with Sentinels and the master that they name', async () => {
    const { port: master } = await start();
    const port = await freePort();
    const lines = [
      `tls-port ${port}`,
      'tls-replication yes',
      ...pairs(tls),
      `sentinel monitor shop 127.0.0.1 ${master} 1`,
    ];
    servers.push(await RedisServer.startSentinel(REDIS_BINARY ?? '', lines));
    await expectService(`rediss+sentinel://127.0.0.1:${port}/shop?${query}`);
  });

  test('the gateway works with the nodes of a cluster', async () => {
    const bus = await freePort();
    const { server, port } = await start(
      '--cluster-announce-ip',
      '127.0.0.1',
      '--cluster-enabled',
      'yes',
      '--cluster-port',
      String(bus),
      '--tls-cluster',
      'yes',
    );
    await server.ask(['CLUSTER', 'ADDSLOTSRANGE', '0', '16383']);
    await until(async () => (await server.ask(['CLUSTER', 'INFO'])).includes('cluster_state:ok'));
    await expectService(`rediss+cluster://127.0.0.1:${port}?${query}`);
  });
});

async function expectService(url: string): Promise<void> {
  const instances = [await Instance.start(url), await Instance.start(url)];
  expect(await allowed(instances, 'caller', 100)).toBe(60);
  const [one, other] = instances as [Instance, Instance];
  one.relay.enqueue({ topic: 'pet', kind: 'CREATED', id: 1n });
  await until(async () => other.heard.length === 1);
  await Promise.all(instances.map((instance) => instance.close()));
}

/** Converts command-line options to lines of a configuration file. */
function pairs(options: readonly string[]): string[] {
  return options.flatMap((option, i) => (i % 2 ? [] : [`${option.slice(2)} ${options[i + 1]}`]));
}
