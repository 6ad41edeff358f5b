import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { cp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';

/** The admin key of every server of the net. */
export const ADMIN_KEY = 'ps_netadmin0000_NetAdminNetAdminNetAdminNetAdmin';

const MAIN = join(__dirname, '..', '..', 'dist', 'main.js');
const PREFIX = `petstore_net_${process.pid}_`;
let databases = 0;

/** A gateway process on a separate database, started from the build. */
export interface Server {
  readonly url: string;
  readonly databaseUrl: string | undefined;
  readonly dataDirectory: string | undefined;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Sends a signal. @returns the exit code, once the process has ended. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  /** Starts the gateway again on the same database, after `stop`. */
  restart(environment?: Record<string, string>): Promise<void>;
  /** Starts a second gateway on the same database (PostgreSQL only). Its `drop` keeps the database. */
  another(environment?: Record<string, string>): Promise<Server>;
  /** Ends the process and deletes its database. */
  drop(): Promise<void>;
}

/** Creates empty, migrated databases, each a copy of a database that the first start of a gateway created. */
export interface Databases {
  readonly kind: 'embedded' | 'postgres';
  create(): Promise<{ environment: Record<string, string>; drop(): Promise<void> }>;
  close(): Promise<void>;
}

/** Embedded databases below a temporary directory. */
export async function embeddedDatabases(): Promise<Databases> {
  const root = mkdtempSync(join(tmpdir(), 'petstore-net-'));
  const base = join(root, 'base');
  await startOnce({ DATA_DIR: base });
  return {
    kind: 'embedded',
    create: async () => {
      const directory = join(root, `data-${++databases}`);
      await cp(base, directory, { recursive: true });
      return {
        environment: { DATA_DIR: directory },
        drop: () => rm(directory, { recursive: true, force: true }),
      };
    },
    close: () => rm(root, { recursive: true, force: true }),
  };
}

/** Databases on the PostgreSQL server at `url`. The role in `url` must be allowed to create databases. */
export async function postgresDatabases(url: string): Promise<Databases> {
  const base = `${PREFIX}base`;
  await onServer(url, `create database ${base}`);
  await startOnce({ DATABASE_URL: urlOf(url, base) });
  return {
    kind: 'postgres',
    create: async () => {
      const name = `${PREFIX}${++databases}`;
      await onServer(url, `create database ${name} template ${base}`);
      return {
        environment: { DATABASE_URL: urlOf(url, name) },
        drop: () => onServer(url, `drop database if exists ${name} with (force)`),
      };
    },
    close: () => onServer(url, `drop database if exists ${base} with (force)`),
  };
}

async function startOnce(environment: Record<string, string>): Promise<void> {
  const first = new Process({ ADMIN_API_KEY: ADMIN_KEY, ...environment });
  await first.ready();
  await first.stop();
}

function urlOf(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}

async function onServer(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** Starts a gateway on a new database. A setting with the value `undefined` has its default. */
export async function startServer(databases: Databases, settings: Record<string, string | undefined>): Promise<Server> {
  const { environment, drop } = await databases.create();
  const given = withoutUndefined({ ADMIN_API_KEY: ADMIN_KEY, ...settings });
  try {
    return await serve({ ...environment, ...given }, drop);
  } catch (error) {
    await drop();
    throw error;
  }
}

async function serve(environment: Record<string, string>, drop: () => Promise<void>): Promise<Server> {
  let running = new Process(environment);
  await running.ready();
  return {
    get url() {
      return running.url;
    },
    databaseUrl: environment.DATABASE_URL,
    dataDirectory: environment.DATA_DIR,
    stdout: () => running.stdout,
    stderr: () => running.stderr,
    stop: (signal) => running.stop(signal),
    restart: async (more = {}) => {
      await running.stop();
      running = new Process({ ...environment, ...more });
      await running.ready();
    },
    another: (more = {}) => serve({ ...environment, ...more }, async () => undefined),
    drop: async () => {
      await running.stop('SIGKILL');
      await drop();
    },
  };
}

function withoutUndefined(settings: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(settings).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** A process of the built gateway. It inherits no environment: it gets `environment`, and defaults for a few variables. */
export class Process {
  stdout = '';
  stderr = '';
  private readonly child: ChildProcess;
  private readonly ended: Promise<number | null>;
  private isEnded = false;

  constructor(environment: Record<string, string>) {
    // `--liftoff-only` halves the start time of the embedded database: its WebAssembly is compiled only once.
    const flags = environment.DATABASE_URL ? [] : ['--liftoff-only'];
    this.child = spawn(process.execPath, [...flags, MAIN], {
      env: { PORT: '0', NODE_ENV: 'production', SHUTDOWN_DELAY_MS: '0', ...environment },
      cwd: tmpdir(), // This directory has no .env file.
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
    });
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    this.ended = once(this.child, 'close').then(([code]) => {
      this.isEnded = true;
      return code;
    });
  }

  get url(): string {
    return /"Explore":"([^"]+)".*\n/.exec(this.stdout)?.[1] ?? '';
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** Waits until the gateway reports its URL. @throws Error if the process ends first. */
  async ready(): Promise<void> {
    while (!this.url) {
      if (this.isEnded) throw new Error(`The gateway exited during startup:\n${this.stdout}${this.stderr}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    if (!this.isEnded) this.child.kill(signal);
    return this.ended;
  }
}
