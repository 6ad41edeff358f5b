import { execFileSync, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { freePort } from './free-port';
import { findProgram } from './programs';
import { Server } from './server';
import { until } from './until';

const DEBIAN = '/usr/lib/postgresql';
const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).map((version) => join(DEBIAN, version, 'bin')) : [];
const DIRECTORIES = [...versions, ...(process.env.PATH ?? '').split(':')];
const INITDB = findProgram(
  'PostgreSQL',
  DIRECTORIES.map((path) => join(path, 'initdb')),
);
const BINARIES = INITDB && dirname(INITDB);

/** Options that run PostgreSQL as the user `postgres` if the tests run as root. `undefined` if that user does not exist. */
export const SERVER_USER = serverUser();

const OPTIONS: SpawnOptions = {
  ...SERVER_USER,
  cwd: '/',
  stdio: 'ignore',
  env: { PATH: process.env.PATH, LC_ALL: 'C' },
};

export const CAN_START_POSTGRES = BINARIES !== undefined && SERVER_USER !== undefined;

/** Each file of `pg_xact` has two bits for each of this many transactions. */
const TRANSACTIONS_PER_SEGMENT = 2 ** 20;

/** `SIGINT` is a fast shutdown. `SIGQUIT` is like a crash, after which the server must recover. */
export type Stop = 'SIGINT' | 'SIGQUIT';

/** Makes the user of the server the owner of a file. */
export function giveToServer(path: string): void {
  if (SERVER_USER?.uid !== undefined) chownSync(path, SERVER_USER.uid, SERVER_USER.gid ?? SERVER_USER.uid);
}

export class PostgresServer extends Server {
  private constructor(
    readonly port: number,
    private readonly settings: Readonly<Record<string, string>>,
  ) {
    super();
    giveToServer(this.directory);
  }

  /** Creates a server that accepts connections. @param settings more lines of `postgresql.conf`. */
  static async start(settings: Readonly<Record<string, string>> = {}): Promise<PostgresServer> {
    const server = new PostgresServer(await freePort(), settings);
    await server.tool('initdb', ['-D', server.data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync']);
    await server.start();
    return server;
  }

  /** Creates a streaming replica. */
  static async follow(primary: PostgresServer): Promise<PostgresServer> {
    const server = new PostgresServer(await freePort(), {});
    const stream = ['-R', '-X', 'stream', '-c', 'fast', '--no-sync'];
    await server.tool('pg_basebackup', ['-D', server.data, '-d', primary.url, ...stream]);
    await server.start();
    return server;
  }

  /** Promotes a replica to primary, and waits until it accepts writes. */
  async promote(): Promise<void> {
    await this.tool('pg_ctl', ['promote', '-D', this.data, '-w']);
  }

  /** The URL of the default database. */
  get url(): string {
    return `postgresql://postgres@127.0.0.1:${this.port}/postgres`;
  }

  /** Starts the server, and waits until it accepts connections. After a crash, the server recovers first. */
  async start(): Promise<void> {
    const network = { listen_addresses: '127.0.0.1', port: this.port, unix_socket_directories: '' };
    const settings = Object.entries({ ...network, fsync: 'off', ...this.settings });
    const args = ['-D', this.data, ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])];
    this.run(join(BINARIES ?? '', 'postgres'), args, OPTIONS);
    // A server that responds but rejects the role of the test also counts as started.
    const refusal = () =>
      this.query('select').then(
        () => undefined,
        ({ code }) => code,
      );
    await until(async () => !['ECONNREFUSED', 'ECONNRESET', '57P03'].includes(await refusal()), 120);
  }

  override async remove(): Promise<void> {
    await this.stop('SIGQUIT');
    await super.remove();
  }

  /** Makes the server ask a role for its password. */
  async requirePasswords(role: string): Promise<void> {
    const file = join(this.data, 'pg_hba.conf');
    writeFileSync(file, `host all ${role} 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n`);
    giveToServer(file);
    await this.query('select pg_reload_conf()');
  }

  /** Runs SQL on a new connection. @returns the rows. */
  async query(sql: string) {
    const client = await this.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  }

  /** Opens a connection, to be closed by the caller. */
  async connect(url = this.url): Promise<Client> {
    const client = new Client(url).on('error', () => undefined);
    await client.connect();
    return client;
  }

  /** Sets the next transaction id of a server that is stopped. */
  async setNextTransactionId(id: number): Promise<void> {
    await this.tool('pg_resetwal', ['-D', this.data, '-x', String(id)]);
    // The server needs the file with the status of this transaction.
    const segment = Math.floor(id / TRANSACTIONS_PER_SEGMENT);
    const file = join(this.data, 'pg_xact', segment.toString(16).toUpperCase().padStart(4, '0'));
    writeFileSync(file, Buffer.alloc(TRANSACTIONS_PER_SEGMENT / 4));
    giveToServer(file);
  }

  private get data(): string {
    return join(this.directory, 'data');
  }

  private async tool(program: string, args: string[]): Promise<void> {
    const [code] = await once(spawn(join(BINARIES ?? '', program), args, OPTIONS), 'exit');
    if (code !== 0) throw new Error(`${program} ended with ${code}`);
  }
}

function serverUser(): { uid?: number; gid?: number } | undefined {
  if (process.getuid?.() !== 0) return {};
  const id = (option: string) => Number(execFileSync('id', [option, 'postgres'], { stdio: 'pipe' }));
  try {
    return { uid: id('-u'), gid: id('-g') };
  } catch {
    return undefined;
  }
}
