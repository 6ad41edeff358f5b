import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { createDatabase } from '../helper/database';
import { freePort } from '../helper/free-port';
import { ADMIN_KEY } from '../helper/gateway';
import { makeDirectory } from '../helper/installation';
import { ask } from '../helper/load';
import { GatewayProcess, MAIN } from '../helper/process';
import { onServers, TEST_REDIS_URL } from '../helper/production';
import { REDIS_BINARY, RedisServer } from '../helper/redis-server';
import { TcpProxy } from '../helper/tcp-proxy';
import { until } from '../helper/until';

/** The number of the lock that a start takes before it migrates, as Prisma's CLI does. */
const LOCK = 72707369;
/** A role that may not connect, since its limit of connections is reached. */
const FULL_ROLE = `petstore_full_${process.pid}`;
/** A stop without requests in progress takes at most this long, whatever the database, Redis and the log do. */
const STOP_MS = 8_000;

onServers('with faults of its servers,', () => {
  let home: Awaited<ReturnType<typeof createDatabase>>;
  let admin: Client;
  let database: TcpProxy;
  let redis: TcpProxy;
  let refusing: RedisServer | undefined;
  const started: GatewayProcess[] = [];
  const undo: (() => unknown)[] = [];
  const directory = makeDirectory();
  const fifo = join(directory, 'log');

  beforeAll(async () => {
    spawnSync('mkfifo', [fifo]);
    home = await createDatabase();
    admin = await connect();
    await admin.query(`create role ${FULL_ROLE} login superuser connection limit 0`);
    await admin.query(`alter role ${FULL_ROLE} nosuperuser`);
    if (REDIS_BINARY) refusing = await RedisServer.start(REDIS_BINARY, ['--requirepass', 'secret']);
  });
  beforeEach(async () => {
    database = await TcpProxy.start(home.url ?? '');
    redis = await TcpProxy.start(TEST_REDIS_URL ?? '');
  });
  afterEach(async () => {
    for (const gateway of started.splice(0)) await gateway.stopAll('SIGKILL');
    for (const each of undo.splice(0).reverse()) await each();
    await database.close();
    await redis.close();
  });
  afterAll(async () => {
    rmSync(directory, { recursive: true });
    await refusing?.remove();
    await admin.query(`drop role ${FULL_ROLE}`);
    await admin.end();
    await home.drop();
  });

  async function connect(): Promise<Client> {
    const client = new Client({ connectionString: home.url }).on('error', () => undefined);
    await client.connect();
    return client;
  }

  function launch(environment: Record<string, string> = {}, redirection = ''): GatewayProcess {
    const settings = {
      PATH: process.env.PATH ?? '',
      PORT: '0',
      ADMIN_API_KEY: ADMIN_KEY,
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
    };
    const line = redirection ? (['/bin/sh', '-c', `${redirection}; exec "$@"`, 'sh', ...MAIN] as const) : MAIN;
    const gateway = new GatewayProcess({ ...settings, ...environment }, line);
    started.push(gateway);
    return gateway;
  }

  async function serving(environment: Record<string, string> = {}): Promise<GatewayProcess> {
    const gateway = launch(environment);
    await until(() => gateway.url !== '' || gateway.isEnded, 60);
    if (gateway.isEnded) throw new Error(JSON.stringify(await gateway.ended));
    return gateway;
  }

  /** The sessions of gateways on the server. */
  async function sessions(): Promise<object[]> {
    const { rows } = await admin.query(
      `select pid, state, query from pg_stat_activity where datname = current_database() and application_name = 'petstore-gateway'`,
    );
    return rows;
  }

  /** Another session, which the end of the test closes. */
  async function inSession(sql: string): Promise<void> {
    const client = await connect();
    undo.push(() => client.end());
    await client.query(sql);
  }

  const name = () => new URL(home.url ?? '').pathname.slice(1);
  const readOnly = async () => {
    await admin.query(`alter database ${name()} set default_transaction_read_only to on`);
    undo.push(() => admin.query(`alter database ${name()} reset default_transaction_read_only`));
  };
  const locked = () => inSession(`select pg_advisory_lock(${LOCK})`);

  const REDIS: readonly (readonly [what: string, break_: () => Promise<string>])[] = [
    [
      'absent',
      async () => {
        await redis.goAway();
        return redis.url;
      },
    ],
    [
      'silent',
      async () => {
        redis.fallSilent();
        return redis.url;
      },
    ],
    ['refusing', async () => refusing?.url ?? ''],
  ];

  const url = (change: Partial<URL>) => Object.assign(new URL(database.url), change).href;

  describe.each<[what: string, line: RegExp, break_: () => Promise<string> | string]>([
    [
      'absent',
      /^petstore-gateway: PostgreSQL at \S+ cannot be opened: connect ECONNREFUSED .*\n$/,
      async () => {
        await database.goAway();
        return database.url;
      },
    ],
    [
      'silent',
      /^petstore-gateway: PostgreSQL at \S+ cannot be opened: .*timeout.*\n$/,
      () => {
        database.fallSilent();
        return database.url;
      },
    ],
    [
      'full of connections',
      /^petstore-gateway: PostgreSQL at \S+ cannot be opened: too many connections for role .* max_connections.*\n$/,
      () => url({ username: FULL_ROLE }),
    ],
    [
      'read-only and empty',
      /^petstore-gateway: PostgreSQL at \S+ cannot be opened: Migration \S+ cannot be applied: the database is read-only.*\n$/,
      async () => {
        const empty = `${name()}_empty`;
        await admin.query(`create database ${empty}`);
        undo.push(() => admin.query(`drop database ${empty} with (force)`));
        await admin.query(`alter database ${empty} set default_transaction_read_only to on`);
        return url({ pathname: `/${empty}` });
      },
    ],
  ])('a start fails with one line while the database is %s', (_what, line, breakDatabase) => {
    test.each(REDIS)('and Redis is %s', async (_redis, breakRedis) => {
      const environment = { DATABASE_URL: await breakDatabase(), REDIS_URL: await breakRedis() };
      const begun = performance.now();
      const { code, stderr } = await launch(environment).ended;
      expect([code, stderr]).toEqual([1, expect.stringMatching(line)]);
      expect(performance.now() - begun).toBeLessThan(20_000);
      expect(await sessions()).toEqual([]);
    });
  });

  test.each(REDIS.filter(([what]) => what !== 'refusing'))(
    'a start on a read-only database serves, and stops, while Redis is %s',
    async (_what, breakRedis) => {
      await (await serving()).stop();
      await readOnly();
      const gateway = await serving({ REDIS_URL: await breakRedis() });
      expect((await fetch(`${gateway.url}/pets`, { headers: { connection: 'close' } })).status).toBe(200);
      const begun = performance.now();
      expect(await gateway.stop()).toMatchObject({ code: 0, stderr: '' });
      expect(performance.now() - begun).toBeLessThan(STOP_MS);
      expect(await sessions()).toEqual([]);
    },
  );

  test('a start fails with one line while Redis refuses it', async () => {
    const { code, stderr } = await launch({ REDIS_URL: refusing?.url ?? '' }).ended;
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^petstore-gateway: REDIS_URL: NOAUTH .* Add the password to REDIS_URL .*\n$/),
    ]);
    await until(async () => (await sessions()).length === 0);
  });

  describe.each([
    ['have no space', () => 'exec > /dev/full 2>&1'],
    ['lost their reader', () => `exec 3<> ${fifo} > ${fifo} 2>&1 3<&-`],
    ['are a full pipe', () => `exec 3<> ${fifo}; head -c 65536 /dev/zero >&3; exec >&3 2>&3`],
  ])('if standard output and standard error %s from the start on,', (_what, redirection) => {
    test('a start fails with code 1 while the database is absent', async () => {
      await database.goAway();
      const begun = performance.now();
      expect(await launch({}, redirection()).ended).toMatchObject({ code: 1, signal: null });
      expect(performance.now() - begun).toBeLessThan(STOP_MS);
    });

    test.each([
      ['one process', {}],
      ['workers', { WEB_CONCURRENCY: '2', METRICS_PORT: '0' }],
    ])('a start of %s that has to wait serves in the end, and SIGTERM ends it in time', async (_kind, environment) => {
      await locked();
      const port = String(await freePort());
      const gateway = launch({ ...environment, PORT: port }, redirection());
      await until(async () => (await sessions()).length > 0, 30);
      // The start reports what it waits for after two seconds.
      await sleep(2_500);
      for (const each of undo.splice(0)) await each();
      await until(async () => (await ask(`http://127.0.0.1:${port}`, { path: '/pets' })).status === 200, 30);
      const begun = performance.now();
      expect(await gateway.stop()).toMatchObject({ code: 0, signal: null });
      expect(performance.now() - begun).toBeLessThan(STOP_MS);
    });

    test('SIGTERM ends a start that waits', async () => {
      await locked();
      const gateway = launch({}, redirection());
      await until(async () => (await sessions()).length > 0, 30);
      await sleep(2_500);
      const begun = performance.now();
      expect(await gateway.stop()).toMatchObject({ code: 0, signal: null });
      expect(performance.now() - begun).toBeLessThan(5_000);
      await until(async () => (await sessions()).length === 0);
    });
  });

  describe('while another process holds the lock of migrations,', () => {
    const WAITS =
      /^petstore-gateway: the start waits, since process \d+ of the server, .* holds the lock of migrations\..*pg_terminate_backend\.\n$/;

    test.each([
      ['one process', {}],
      ['workers', { WEB_CONCURRENCY: '2', METRICS_PORT: '0' }],
    ])('a start of %s says so after two seconds, and serves when the lock is released', async (_what, environment) => {
      await locked();
      const gateway = launch(environment);
      await until(() => WAITS.test(gateway.stderr), 30);
      for (const each of undo.splice(0)) await each();
      await until(() => gateway.url !== '', 30);
      expect((await gateway.stop()).code).toBe(0);
    });

    test.each([
      ['one process', {}],
      ['workers', { WEB_CONCURRENCY: '2', METRICS_PORT: '0' }],
    ])('SIGTERM ends a start of %s at once, with a line, and leaves no session', async (_what, environment) => {
      await locked();
      const gateway = launch(environment);
      await until(() => WAITS.test(gateway.stderr), 30);
      const begun = performance.now();
      const { code, signal, stderr } = await gateway.stop();
      expect([code, signal]).toEqual([0, null]);
      expect(stderr).toMatch(/petstore-gateway: a signal has stopped the start\.\n$/);
      expect(performance.now() - begun).toBeLessThan(5_000);
      await until(async () => (await sessions()).length === 0);
    });

    test('a start that is killed leaves no session that waits', async () => {
      await locked();
      const gateway = launch();
      await until(() => WAITS.test(gateway.stderr), 30);
      await gateway.stop('SIGKILL');
      await until(async () => (await sessions()).length === 0);
    });
  });

  test('SIGTERM ends a start whose migration waits for a table, rolls the migration back, and leaves no session', async () => {
    const { rows } = await admin.query(
      `delete from _prisma_migrations where migration_name like '%_order_owners' returning *`,
    );
    const { id, checksum, finished_at, migration_name, started_at } = rows[0];
    undo.push(async () => {
      await admin.query('delete from _prisma_migrations where migration_name = $1', [migration_name]);
      await admin.query(
        'insert into _prisma_migrations (id, checksum, finished_at, migration_name, started_at, applied_steps_count) values ($1, $2, $3, $4, $5, 1)',
        [id, checksum, finished_at, migration_name, started_at],
      );
    });
    await inSession('begin; lock table orders, pets, categories, inventory, usage_days in access exclusive mode');
    const gateway = launch();
    await until(() => /migration \S+ still runs\..*pg_blocking_pids\(\d+\)/.test(gateway.stderr), 30);
    const begun = performance.now();
    expect(await gateway.stop()).toMatchObject({ code: 0, signal: null });
    expect(performance.now() - begun).toBeLessThan(5_000);
    await until(async () => (await sessions()).length === 0);
  });

  describe.each<[what: string, break_: () => unknown]>([
    ['answers', () => undefined],
    ['is absent', () => database.goAway()],
    ['is silent', () => database.fallSilent()],
    ['is read-only', readOnly],
    ['is full of connections', () => admin.query(`alter database ${name()} connection limit 0`)],
    ['is locked by a migration', () => inSession('begin; lock table usage_days, pets in access exclusive mode')],
  ])('SIGTERM ends the process in time while the database %s', (_what, breakDatabase) => {
    afterEach(() => admin.query(`alter database ${name()} connection limit -1`));

    test.each([
      ['Redis answers', () => undefined, ''],
      ['Redis is absent', () => redis.goAway(), ''],
      ['Redis is silent', () => redis.fallSilent(), ''],
      ['the log is closed', () => undefined, 'closed'],
      ['the log is stuck', () => undefined, 'stuck'],
    ])('and %s', async (_redis, breakRedis, log) => {
      const gateway = await serving();
      // The usage of this request is saved at the stop at the latest.
      expect((await fetch(`${gateway.url}/pets`, { headers: { connection: 'close' } })).status).toBe(200);
      await breakDatabase();
      await breakRedis();
      if (log === 'closed') gateway.closeOutput();
      if (log === 'stuck') gateway.stopReading();
      const begun = performance.now();
      const { code, signal } = await gateway.stop();
      expect([code, signal]).toEqual([0, null]);
      expect(performance.now() - begun).toBeLessThan(STOP_MS);
      if (!log) expect(gateway.stdout).toContain('"msg":"stopped"');
      database.resetAll();
      await until(async () => (await sessions()).length === 0);
    });
  });
});
