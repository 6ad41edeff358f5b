import { createDatabase, TEST_DATABASE_URL } from './helper/database';
import { FakeReplica } from './helper/fake-replica';
import { ADMIN_KEY, type Gateway, startGateway, type TestKey } from './helper/gateway';
import { ask, Load, type Tried } from './helper/load';
import { GatewayProcess } from './helper/process';
import { TcpProxy } from './helper/tcp-proxy';
import { until } from './helper/until';

const MAX_LAG_MS = 1000;
const REQUEST_TIMEOUT_MS = 3000;
const JSON_TYPE = { 'content-type': 'application/json' };

const onPostgres = TEST_DATABASE_URL ? describe : describe.skip;

onPostgres("with two replicas whose rows differ from the primary's,", () => {
  let gateway: Gateway;
  let url: string;
  let replicas: FakeReplica[];
  let reader: TestKey;
  let environment: Record<string, string>;

  beforeAll(async () => {
    replicas = [await FakeReplica.start('First'), await FakeReplica.start('Second')];
    const primary = await createDatabase();
    environment = {
      DATABASE_URL: primary.url ?? '',
      DATABASE_REPLICA_URLS: replicas.map(({ url }) => url).join(),
      REPLICA_MAX_LAG_MS: String(MAX_LAG_MS),
      REQUEST_TIMEOUT_MS: String(REQUEST_TIMEOUT_MS),
    };
    gateway = await startGateway(environment, Date.now, primary);
    url = await gateway.listen();
    await gateway.graphql('mutation { createCategory(input: { name: "Primary" }) { id } }');
    reader = await newKey();
    // The first connection to a replica can take so long that the primary answers.
    await until(async () => !(await reads(4)).includes('Primary'));
  });
  afterAll(async () => {
    await gateway?.close();
    await Promise.all(replicas.map((replica) => replica.close()));
  });

  const newKey = () => gateway.createKey({ plan: 'ENTERPRISE', scopes: ['WRITE'], perMinute: 1e6, perDay: 1e6 });

  /** Where a caller's read went: the name of the only category there. */
  const readBy = async ({ headers }: TestKey, on = gateway): Promise<string> => {
    const { body, statusCode } = await on.app.inject({ url: '/categories/1', headers });
    expect(statusCode).toBe(200);
    return JSON.parse(body).name;
  };
  const reads = async (times: number, key = reader): Promise<string[]> => {
    const names = [];
    for (let i = 0; i < times; i++) names.push(await readBy(key));
    return names;
  };
  const sample = async (name: string, replica: FakeReplica): Promise<number> => {
    const { body } = await gateway.app.inject({ url: '/metrics' });
    const line = body.split('\n').find((each) => each.startsWith(`${name}{replica="${replica.name}"}`));
    return Number(line?.split(' ').pop());
  };
  const areUsed = async () => Promise.all(replicas.map((replica) => sample('petstore_replica_used', replica)));
  const untilUsed = (...expected: number[]) => until(async () => String(await areUsed()) === String(expected), 15);

  test('GraphQL queries and REST reads go to the replicas in turn, and are counted', async () => {
    const before = await sample('petstore_replica_statements_total', replicas[0] as FakeReplica);
    expect((await reads(4)).sort()).toEqual(['First', 'First', 'Second', 'Second']);
    const found = [];
    for (let i = 0; i < 2; i++) {
      const { data } = await gateway.graphql('{ category(id: 1) { name } }', {}, reader.headers);
      found.push(data.category?.name);
    }
    expect(found.sort()).toEqual(['First', 'Second']);
    expect(await sample('petstore_replica_statements_total', replicas[0] as FakeReplica)).toBe(before + 3);
    expect(await sample('petstore_replica_lag_seconds', replicas[1] as FakeReplica)).toBeLessThan(1);
  });

  test('all statements of a query go to the same replica', async () => {
    const query = '{ a: category(id: 1) { name } b: category(id: 1) { name } categories { nodes { name } } }';
    for (let i = 0; i < 6; i++) {
      const { data } = await gateway.graphql(query, {}, reader.headers);
      const names = [data.a?.name, data.b?.name, ...(data.categories?.nodes?.map(({ name }) => name) ?? [])];
      expect(new Set(names).size).toBe(1);
    }
  });

  test('mutations, their replays and key look-ups go to the primary', async () => {
    const key = await newKey();
    const update = {
      method: 'PATCH' as const,
      url: '/categories/1',
      headers: { ...key.headers, ...JSON_TYPE, 'idempotency-key': 'once' },
      payload: '{"description":"changed"}',
    };
    const [first, second] = [await gateway.app.inject(update), await gateway.app.inject(update)];
    expect(first.json()).toMatchObject({ name: 'Primary', description: 'changed' });
    expect([second.body, second.headers['idempotent-replayed']]).toEqual([first.body, 'true']);
    const { data } = await gateway.graphql('{ apiKeys { totalCount nodes { id } } }');
    expect(data.apiKeys?.nodes?.map(({ id }) => id)).toContain(key.id);
  });

  test('a caller that has written, and no other, reads from the primary for as long as a replica may lag', async () => {
    const writer = await newKey();
    expect(await reads(2, writer)).not.toContain('Primary');
    const { status } = await gateway.graphql(
      'mutation { updateCategory(id: 1, input: { description: "mine" }) { id } }',
      {},
      writer.headers,
    );
    const written = performance.now();
    expect(status).toBe(200);
    expect(await reads(3, writer)).toEqual(['Primary', 'Primary', 'Primary']);
    expect(await reads(2)).not.toContain('Primary');
    await until(async () => (await readBy(writer)) !== 'Primary');
    expect(performance.now() - written).toBeGreaterThan(MAX_LAG_MS - 5);
  });

  test('a replica that lags is left out, and comes back once it has caught up', async () => {
    const [first, second] = replicas as [FakeReplica, FakeReplica];
    await first.stopReplaying();
    await gateway.graphql('mutation { updateCategory(id: 1, input: { description: "later" }) { id } }');
    await untilUsed(0, 1);
    expect(new Set(await reads(4))).toEqual(new Set(['Second']));
    expect(await sample('petstore_replica_lag_seconds', first)).toBeGreaterThan(MAX_LAG_MS / 1000);
    await second.stopReplaying();
    await gateway.graphql('mutation { updateCategory(id: 1, input: { description: "too late" }) { id } }');
    await untilUsed(0, 0);
    expect(new Set(await reads(4))).toEqual(new Set(['Primary']));
    await Promise.all([first.catchUp(), second.catchUp()]);
    await untilUsed(1, 1);
    expect(new Set(await reads(4))).toEqual(new Set(['First', 'Second']));
  });

  test.each<[string, (replica: FakeReplica) => Promise<void>, (replica: FakeReplica) => Promise<void>]>([
    ['goes away', ({ proxy }) => proxy.goAway(), ({ proxy }) => proxy.comeBack()],
    ['falls silent', async ({ proxy }) => proxy.fallSilent(), async ({ proxy }) => proxy.speak()],
    [
      'lacks a table',
      (replica) => replica.sql('alter table categories rename to gone'),
      (replica) => replica.sql('alter table gone rename to categories'),
    ],
  ])('a replica that %s under load costs no request, and comes back', async (what, stop, start) => {
    const [first] = replicas as [FakeReplica];
    const load = new Load(url, 6, () => ({ path: '/categories/1', headers: reader.headers }), 5);
    await until(async () => load.tried.length > 50, 20);
    await stop(first);
    if (what === 'lacks a table') await until(async () => load.tried.length > 200, 20);
    else await untilUsed(0, 1);
    const seen = load.tried.length;
    await until(async () => load.tried.length > seen + 50, 20);
    await start(first);
    await untilUsed(1, 1);
    const returned = load.tried.length;
    const isFirst = ({ body }: Tried) => body?.includes('First') ?? false;
    await until(async () => load.tried.slice(returned).some(isFirst), 20);
    const tried = await load.stop();
    expect(tried.filter(({ status }) => status !== 200)).toEqual([]);
    expect(Math.max(...tried.map(({ took }) => took))).toBeLessThan(REQUEST_TIMEOUT_MS);
  });

  const onRedis = process.env.TEST_REDIS_URL ? test : test.skip;

  onRedis('after a write through one instance, all instances that share Redis read from the primary', async () => {
    const proxy = await TcpProxy.start(process.env.TEST_REDIS_URL ?? '');
    const writing = await gateway.another({ ...environment, REDIS_URL: process.env.TEST_REDIS_URL ?? '' });
    const reading = await gateway.another({ ...environment, REDIS_URL: proxy.url });
    try {
      const [writer, other] = [await newKey(), await newKey()];
      expect(await readBy(writer, reading)).not.toBe('Primary');
      const mutation = 'mutation { updateCategory(id: 1, input: { description: "there" }) { id } }';
      await writing.graphql(mutation, {}, writer.headers);
      expect(await readBy(writer, reading)).toBe('Primary');
      expect(await readBy(other, reading)).not.toBe('Primary');
      await proxy.goAway();
      expect(await readBy(other, reading)).toBe('Primary');
      await proxy.comeBack();
      await until(async () => (await readBy(other, reading)) !== 'Primary', 15);
    } finally {
      await Promise.all([writing.server.close(), reading.server.close()]);
      await proxy.close();
    }
  });
});

onPostgres('a replica that does not exist, or is not a replica,', () => {
  test('does not stop the gateway from working, and is logged without its password', async () => {
    const { url = '', drop } = await createDatabase();
    const primary = new URL(url);
    primary.password = 'hunter2';
    const gone = 'postgresql://reader:hunter2@127.0.0.1:1/petstore';
    const started = await GatewayProcess.start({
      DATABASE_URL: url,
      DATABASE_REPLICA_URLS: `${gone}, ${primary.href}`,
      ADMIN_API_KEY: ADMIN_KEY,
    });
    const headers = { 'x-api-key': ADMIN_KEY };
    expect(await ask(started.url, { path: '/categories', headers })).toMatchObject({
      status: 200,
      body: '[]',
    });
    const { stdout, code } = await started.stop();
    await drop();
    expect(code).toBe(0);
    expect(stdout).not.toContain('hunter2');
    const lines = stdout
      .split('\n')
      .filter((line) => line.includes('"replica"'))
      .map((line) => JSON.parse(line));
    const common = { level: 'warn', msg: 'replica not in use' };
    expect(lines).toEqual([
      expect.objectContaining({
        ...common,
        replica: '127.0.0.1:1/petstore',
        reason: 'connect ECONNREFUSED 127.0.0.1:1',
      }),
      expect.objectContaining({
        ...common,
        replica: primary.host + primary.pathname,
        reason: 'it is not a streaming replica',
      }),
    ]);
  });
});
