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
import { onServers, TEST_DATABASE_URL, TEST_REDIS_URL } from '../helper/production';
import { REDIS_BINARY, RedisServer } from '../helper/redis-server';
import { TcpProxy } from '../helper/tcp-proxy';
import { withOwn } from '../helper/testbed';
import { until } from '../helper/until';

/** The number of the lock that a start takes before it migrates, as Prisma's CLI does. */
const LOCK = 72707369;
/** Maximum time of a stop, even if the database, Redis or the log hangs: ten seconds, and four more (docs/operations.md). */
const STOP_MS = 14_000;

/** A role that may not connect, since its limit of connections is reached. */
const FULL_ROLE = `petstore_full_${process.pid}`;
/** A role that is not a superuser. Limits of connections do not hold for superusers. */
const ORDINARY_ROLE = `petstore_ordinary_${process.pid}`;
let refusing: RedisServer | undefined;

/**
 * The database, proxies and gateways of one test. No other test sees its faults. The tests mostly wait, so they run
 * concurrently.
 */
class Testbed {
  /** The path of a pipe that the test may give a gateway as its output. */
  readonly fifo: string;
  private readonly directory = makeDirectory();
  private readonly started: GatewayProcess[] = [];
  private readonly undo: (() => unknown)[] = [];

  private constructor(
    private readonly home: Awaited<ReturnType<typeof createDatabase>>,
    readonly admin: Client,
    readonly database: TcpProxy,
    readonly redis: TcpProxy,
    /** The start of the test, by the clock of the database. */
    private readonly openedAt: Date,
  ) {
    this.fifo = join(this.directory, 'log');
    spawnSync('mkfifo', [this.fifo]);
  }

  static async open(): Promise<Testbed> {
    const home = await createDatabase();
    const admin = await connect(home.url);
    const { rows } = await admin.query('select clock_timestamp() as now');
    const proxies = [await TcpProxy.start(home.url ?? ''), await TcpProxy.start(TEST_REDIS_URL ?? '')] as const;
    return new Testbed(home, admin, ...proxies, rows[0].now);
  }

  async close(): Promise<void> {
    for (const gateway of this.started) await gateway.stopAll('SIGKILL');
    await this.restore();
    await this.database.close();
    await this.redis.close();
    await this.admin.end();
    await this.home.drop();
    rmSync(this.directory, { recursive: true });
  }

  /** Registers an action that undoes a fault of the database at the end of the test. */
  afterwards(action: () => unknown): void {
    this.undo.push(action);
  }

  /** Undoes the faults of the database. */
  async restore(): Promise<void> {
    for (const each of this.undo.splice(0).reverse()) await each();
  }

  /** @param redirection shell code that gives the gateway other output. */
  launch(environment: Record<string, string> = {}, redirection = ''): GatewayProcess {
    const settings = {
      PATH: process.env.PATH ?? '',
      PORT: '0',
      ADMIN_API_KEY: ADMIN_KEY,
      DATABASE_URL: this.database.url,
      REDIS_URL: this.redis.url,
    };
    const line = redirection ? (['/bin/sh', '-c', `${redirection}; exec "$@"`, 'sh', ...MAIN] as const) : MAIN;
    const gateway = new GatewayProcess({ ...settings, ...environment }, line);
    this.started.push(gateway);
    return gateway;
  }

  async serving(environment: Record<string, string> = {}): Promise<GatewayProcess> {
    const gateway = this.launch(environment);
    await until(() => gateway.url !== '' || gateway.isEnded, 60);
    if (gateway.isEnded) throw new Error(JSON.stringify(await gateway.ended));
    return gateway;
  }

  /** The sessions on the server that gateways of this test have opened. */
  async sessions(): Promise<object[]> {
    const { rows } = await this.admin.query(
      `select pid, state, query from pg_stat_activity
        where datname = current_database() and application_name = 'petstore-gateway' and backend_start > $1`,
      [this.openedAt],
    );
    return rows;
  }

  /** Runs a statement in another session, which the end of the test closes. */
  async inSession(sql: string): Promise<void> {
    const client = await connect(this.home.url);
    this.afterwards(() => client.end());
    await client.query(sql);
  }

  get name(): string {
    return new URL(this.home.url ?? '').pathname.slice(1);
  }

  /** The URL of the database, through the proxy, with changes. */
  url(change: Partial<URL>): string {
    return Object.assign(new URL(this.database.url), change).href;
  }

  async makeReadOnly(): Promise<void> {
    await this.admin.query(`alter database ${this.name} set default_transaction_read_only to on`);
    this.afterwards(() => this.admin.query(`alter database ${this.name} reset default_transaction_read_only`));
  }

  /** Grants the ordinary role what a gateway needs. @returns the URL of the database for this role. */
  async grantAccess(): Promise<string> {
    for (const access of ['select, insert, update, delete on all tables', 'usage on all sequences']) {
      await this.admin.query(`grant ${access} in schema public to ${ORDINARY_ROLE}`);
      this.afterwards(() => this.admin.query(`revoke ${access} in schema public from ${ORDINARY_ROLE}`));
    }
    return this.url({ username: ORDINARY_ROLE });
  }

  async limitConnections(): Promise<void> {
    await this.admin.query(`alter database ${this.name} connection limit 0`);
    this.afterwards(() => this.admin.query(`alter database ${this.name} connection limit -1`));
  }

  /** Creates an empty read-only database. @returns its URL, through the proxy. */
  async createReadOnly(): Promise<string> {
    const empty = `${this.name}_empty`;
    await this.admin.query(`create database ${empty}`);
    this.afterwards(() => this.admin.query(`drop database ${empty} with (force)`));
    await this.admin.query(`alter database ${empty} set default_transaction_read_only to on`);
    return this.url({ pathname: `/${empty}` });
  }

  lockMigrations(): Promise<void> {
    return this.inSession(`select pg_advisory_lock(${LOCK})`);
  }
}

async function connect(url: string | undefined): Promise<Client> {
  const client = new Client({ connectionString: url }).on('error', () => undefined);
  await client.connect();
  return client;
}

const inTestbed = withOwn(() => Testbed.open());

/** A fault of Redis. `cause` returns the URL for the gateway. */
interface RedisFault {
  readonly redis: string;
  cause(bed: Testbed): Promise<string> | string;
}
const REDIS_FAULTS: readonly RedisFault[] = [
  { redis: 'absent', cause: ({ redis }) => redis.goAway().then(() => redis.url) },
  {
    redis: 'silent',
    cause: ({ redis }) => {
      redis.fallSilent();
      return redis.url;
    },
  },
  { redis: 'refusing', cause: () => refusing?.url ?? '' },
];

/** A fault with which no start succeeds. `cause` returns the URL for the gateway. */
interface DatabaseFault {
  readonly database: string;
  readonly line: RegExp;
  cause(bed: Testbed): Promise<string> | string;
}
const DATABASE_FAULTS: readonly DatabaseFault[] = [
  {
    database: 'absent',
    line: /^petstore-gateway: PostgreSQL at \S+ \(DATABASE_URL\) cannot be opened: connect ECONNREFUSED .*\n$/,
    cause: ({ database }) => database.goAway().then(() => database.url),
  },
  {
    database: 'silent',
    line: /^petstore-gateway: PostgreSQL at \S+ \(DATABASE_URL\) cannot be opened: .*timeout.*\n$/,
    cause: ({ database }) => {
      database.fallSilent();
      return database.url;
    },
  },
  {
    database: 'full of connections',
    line: /^petstore-gateway: PostgreSQL at \S+ \(DATABASE_URL\) cannot be opened: too many connections for role .* max_connections.*\n$/,
    cause: (bed) => bed.url({ username: FULL_ROLE }),
  },
  {
    database: 'read-only and empty',
    line: /^petstore-gateway: PostgreSQL at \S+ \(DATABASE_URL\) cannot be opened: Migration \S+ cannot be applied: the database is read-only.*\n$/,
    cause: (bed) => bed.createReadOnly(),
  },
];

/** States of the database while the gateway stops. */
const DATABASE_STATES: Readonly<Record<string, (bed: Testbed) => unknown>> = {
  answers: () => undefined,
  'is absent': ({ database }) => database.goAway(),
  'is silent': ({ database }) => database.fallSilent(),
  'is read-only': (bed) => bed.makeReadOnly(),
  'is full of connections': (bed) => bed.limitConnections(),
  'is locked by a migration': (bed) => bed.inSession('begin; lock table usage_days, pets in access exclusive mode'),
};
/** States of Redis and the log while the gateway stops. */
const OTHER_STATES: Readonly<Record<string, (bed: Testbed, gateway: GatewayProcess) => unknown>> = {
  'Redis answers': () => undefined,
  'Redis is absent': ({ redis }) => redis.goAway(),
  'Redis is silent': ({ redis }) => redis.fallSilent(),
  'the log is closed': (_bed, gateway) => gateway.closeOutput(),
  'the log is stuck': (_bed, gateway) => gateway.stopReading(),
};

/** Faults of standard output and standard error from the start on, as shell code. */
const BROKEN_OUTPUTS: Readonly<Record<string, (bed: Testbed) => string>> = {
  'have no space': () => 'exec > /dev/full 2>&1',
  'lost their reader': ({ fifo }) => `exec 3<> ${fifo} > ${fifo} 2>&1 3<&-`,
  'are a full pipe': ({ fifo }) => `exec 3<> ${fifo}; head -c 65536 /dev/zero >&3; exec >&3 2>&3`,
};

const WAITS =
  /^petstore-gateway: waiting for the migration lock, held by PostgreSQL process (\d+) \(application .*\)\. .*pg_terminate_backend\(\1\)\n$/;
const PROCESSES: readonly (readonly [what: string, environment: Record<string, string>])[] = [
  ['one process', {}],
  ['workers', { WEB_CONCURRENCY: '2', METRICS_PORT: '0' }],
];

onServers('with faults of its servers,', () => {
  let admin: Client;
  beforeAll(async () => {
    admin = await connect(TEST_DATABASE_URL);
    await admin.query(`create role ${FULL_ROLE} login superuser connection limit 0`);
    await admin.query(`alter role ${FULL_ROLE} nosuperuser`);
    await admin.query(`create role ${ORDINARY_ROLE} login`);
    if (REDIS_BINARY) refusing = await RedisServer.start(REDIS_BINARY, ['--requirepass', 'secret']);
  });
  afterAll(async () => {
    await refusing?.remove();
    await admin.query(`drop role ${FULL_ROLE}, ${ORDINARY_ROLE}`);
    await admin.end();
  });

  test.concurrent.each(
    DATABASE_FAULTS.flatMap(({ database, line, cause }) =>
      REDIS_FAULTS.map(({ redis, cause: causeOfRedis }) => ({ database, redis, line, cause, causeOfRedis })),
    ),
  )(
    'a start fails with one line while the database is $database and Redis is $redis',
    inTestbed(async (bed, { line, cause, causeOfRedis }: DatabaseFault & { causeOfRedis: RedisFault['cause'] }) => {
      const environment = { DATABASE_URL: await cause(bed), REDIS_URL: await causeOfRedis(bed) };
      const begun = performance.now();
      const { code, stderr } = await bed.launch(environment).ended;
      expect([code, stderr]).toEqual([1, expect.stringMatching(line)]);
      expect(performance.now() - begun).toBeLessThan(20_000);
      expect(await bed.sessions()).toEqual([]);
    }),
  );

  test.concurrent.each(REDIS_FAULTS.filter(({ redis }) => redis !== 'refusing'))(
    'a start on a read-only database serves, and stops, while Redis is $redis',
    inTestbed(async (bed, { cause }: RedisFault) => {
      await (await bed.serving()).stop();
      await bed.makeReadOnly();
      const gateway = await bed.serving({ REDIS_URL: await cause(bed) });
      expect((await fetch(`${gateway.url}/pets`, { headers: { connection: 'close' } })).status).toBe(200);
      const begun = performance.now();
      expect(await gateway.stop()).toMatchObject({ code: 0, stderr: '' });
      expect(performance.now() - begun).toBeLessThan(STOP_MS);
      expect(await bed.sessions()).toEqual([]);
    }),
  );

  test.concurrent(
    'a start fails with one line while Redis refuses it',
    inTestbed(async (bed) => {
      const { code, stderr } = await bed.launch({ REDIS_URL: refusing?.url ?? '' }).ended;
      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(/^petstore-gateway: REDIS_URL: NOAUTH .* Add the password to REDIS_URL .*\n$/),
      ]);
      await until(async () => (await bed.sessions()).length === 0);
    }),
  );

  test.concurrent.each(Object.keys(BROKEN_OUTPUTS))(
    'if standard output and standard error %s, a start fails with code 1 while the database is absent',
    inTestbed(async (bed, outputs: string) => {
      await bed.database.goAway();
      const begun = performance.now();
      const { code, signal } = await bed.launch({}, BROKEN_OUTPUTS[outputs]?.(bed)).ended;
      expect([code, signal]).toEqual([1, null]);
      expect(performance.now() - begun).toBeLessThan(STOP_MS);
    }),
  );

  test.concurrent.each(
    Object.keys(BROKEN_OUTPUTS).flatMap((outputs) =>
      PROCESSES.map(([what, environment]) => ({ outputs, what, environment })),
    ),
  )(
    'if standard output and standard error $outputs, a start of $what that has to wait serves in the end, and SIGTERM ends it in time',
    inTestbed(async (bed, { outputs, environment }: { outputs: string; environment: Record<string, string> }) => {
      await bed.lockMigrations();
      const port = String(await freePort());
      const gateway = bed.launch({ ...environment, PORT: port }, BROKEN_OUTPUTS[outputs]?.(bed));
      await until(async () => (await bed.sessions()).length > 0, 30);
      // The start reports what it waits for after two seconds.
      await sleep(2_500);
      await bed.restore();
      await until(async () => (await ask(`http://127.0.0.1:${port}`, { path: '/pets' })).status === 200, 30);
      const begun = performance.now();
      expect(await gateway.stop()).toMatchObject({ code: 0, signal: null });
      expect(performance.now() - begun).toBeLessThan(STOP_MS);
    }),
  );

  test.concurrent.each(Object.keys(BROKEN_OUTPUTS))(
    'if standard output and standard error %s, SIGTERM ends a start that waits',
    inTestbed(async (bed, outputs: string) => {
      await bed.lockMigrations();
      const gateway = bed.launch({}, BROKEN_OUTPUTS[outputs]?.(bed));
      await until(async () => (await bed.sessions()).length > 0, 30);
      await sleep(2_500);
      const begun = performance.now();
      expect(await gateway.stop()).toMatchObject({ code: 0, signal: null });
      expect(performance.now() - begun).toBeLessThan(5_000);
      await until(async () => (await bed.sessions()).length === 0);
    }),
  );

  test.concurrent.each(PROCESSES)(
    'a start of %s that waits for the lock of migrations says so after two seconds, and serves when the lock is released',
    inTestbed(async (bed, _what: string, environment: Record<string, string>) => {
      await bed.lockMigrations();
      const gateway = bed.launch(environment);
      await until(() => WAITS.test(gateway.stderr), 30);
      await bed.restore();
      await until(() => gateway.url !== '', 30);
      expect((await gateway.stop()).code).toBe(0);
    }),
  );

  test.concurrent.each([
    ...PROCESSES.map(([what, environment]) => ['SIGTERM', what, environment] as const),
    ['SIGHUP', 'one process', {}] as const,
  ])(
    '%s ends a start of %s that waits for the lock of migrations at once, with a line, and leaves no session',
    inTestbed(async (bed, by: NodeJS.Signals, _what: string, environment: Record<string, string>) => {
      await bed.lockMigrations();
      const gateway = bed.launch(environment);
      await until(() => WAITS.test(gateway.stderr), 30);
      const begun = performance.now();
      const { code, signal, stderr } = await gateway.stop(by);
      expect([code, signal]).toEqual([0, null]);
      expect(stderr).toMatch(/petstore-gateway: a signal has stopped the start\.\n$/);
      expect(performance.now() - begun).toBeLessThan(5_000);
      await until(async () => (await bed.sessions()).length === 0);
    }),
  );

  test.concurrent(
    'a start that is killed while it waits for the lock of migrations leaves no session that waits',
    inTestbed(async (bed) => {
      await bed.lockMigrations();
      const gateway = bed.launch();
      await until(() => WAITS.test(gateway.stderr), 30);
      await gateway.stop('SIGKILL');
      await until(async () => (await bed.sessions()).length === 0);
    }),
  );

  test.concurrent(
    'SIGTERM ends a start whose migration waits for a table, rolls the migration back, and leaves no session',
    inTestbed(async (bed) => {
      const { rows } = await bed.admin.query(
        `delete from _prisma_migrations where migration_name like '%_order_owners' returning *`,
      );
      const { id, checksum, finished_at, migration_name, started_at } = rows[0];
      bed.afterwards(async () => {
        await bed.admin.query('delete from _prisma_migrations where migration_name = $1', [migration_name]);
        await bed.admin.query(
          'insert into _prisma_migrations (id, checksum, finished_at, migration_name, started_at, applied_steps_count) values ($1, $2, $3, $4, $5, 1)',
          [id, checksum, finished_at, migration_name, started_at],
        );
      });
      await bed.inSession('begin; lock table orders, pets, categories, inventory, usage_days in access exclusive mode');
      const gateway = bed.launch();
      await until(() => /migration \S+ still runs\..*pg_blocking_pids\(\d+\)/.test(gateway.stderr), 30);
      const begun = performance.now();
      expect(await gateway.stop()).toMatchObject({ code: 0, signal: null });
      expect(performance.now() - begun).toBeLessThan(5_000);
      await until(async () => (await bed.sessions()).length === 0);
    }),
  );

  test.concurrent.each(
    Object.keys(DATABASE_STATES).flatMap((database) =>
      Object.keys(OTHER_STATES).map((other) => [database, other] as const),
    ),
  )(
    'SIGTERM ends the process in time while the database %s and %s',
    inTestbed(async (bed, database: string, other: string) => {
      const gateway = await bed.serving({ DATABASE_URL: await bed.grantAccess() });
      // The usage of this request is saved at the stop at the latest.
      expect((await fetch(`${gateway.url}/pets`, { headers: { connection: 'close' } })).status).toBe(200);
      await DATABASE_STATES[database]?.(bed);
      await OTHER_STATES[other]?.(bed, gateway);
      const begun = performance.now();
      const { code, signal } = await gateway.stop();
      expect([code, signal]).toEqual([0, null]);
      expect(performance.now() - begun).toBeLessThan(STOP_MS);
      if (other.startsWith('Redis')) expect(gateway.stdout).toContain('"msg":"stopped"');
      bed.database.resetAll();
      await until(async () => (await bed.sessions()).length === 0);
    }),
  );

  test.concurrent.each<[signal: NodeJS.Signals, what: string, database: string, other: string]>([
    ['SIGTERM', 'workers', 'is absent', 'Redis answers'],
    ['SIGTERM', 'workers', 'is silent', 'Redis answers'],
    ['SIGTERM', 'workers', 'answers', 'Redis is silent'],
    ['SIGTERM', 'workers', 'answers', 'the log is stuck'],
    ['SIGHUP', 'workers', 'answers', 'Redis answers'],
    ['SIGHUP', 'one process', 'is silent', 'Redis answers'],
  ])(
    '%s ends %s in time while the database %s and %s',
    inTestbed(async (bed, signal: NodeJS.Signals, what: string, database: string, other: string) => {
      const [, more = {}] = PROCESSES.find(([name]) => name === what) ?? [];
      const gateway = await bed.serving(more);
      if (what === 'workers') await until(async () => (await gateway.serving()) === 2, 30);
      await fetch(`${gateway.url}/pets`, { headers: { connection: 'close' } });
      await DATABASE_STATES[database]?.(bed);
      await OTHER_STATES[other]?.(bed, gateway);
      const begun = performance.now();
      const { code, signal: killedBy } = await gateway.stop(signal);
      expect([code, killedBy]).toEqual([0, null]);
      expect(performance.now() - begun).toBeLessThan(STOP_MS);
      bed.database.resetAll();
      await until(async () => (await bed.sessions()).length === 0);
    }),
  );

  test.concurrent(
    'a start whose URLs and key end with line breaks, as in a Secret, serves',
    inTestbed(async (bed) => {
      const gateway = await bed.serving({
        DATABASE_URL: `${bed.database.url}\n`,
        REDIS_URL: `${bed.redis.url}\r\n`,
        ADMIN_API_KEY: `${ADMIN_KEY}\n\n`,
      });
      const headers = { 'x-api-key': ADMIN_KEY, connection: 'close' };
      const { status, body } = await ask(gateway.url, { path: '/metrics', headers });
      expect([status, body]).toEqual([200, expect.stringContaining('petstore_limiter_store{state="redis"} 1')]);
      expect(await gateway.stop()).toMatchObject({ code: 0, stderr: '' });
    }),
  );
});
