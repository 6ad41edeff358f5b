import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port';

/** Directory of a PostgreSQL installation that tests may start and stop, if there is one. */
const BINARIES = directories().find((path) => existsSync(join(path, 'initdb')));
/** The server refuses to run as root: as root, it is run as the user created by its package. */
export const SERVER_USER = userOfServer();

export const CAN_START_POSTGRES = BINARIES !== undefined && SERVER_USER !== undefined;

/** How to stop a server: fast shutdown, or immediate as in a crash, after which it must recover. */
export type Stop = 'SIGINT' | 'SIGQUIT';

type Settings = Readonly<Record<string, string>>;

/** A PostgreSQL server of the test's own. */
export class PostgresServer {
  private process: ChildProcess | undefined;
  private readonly directory = mkdtempSync(join(tmpdir(), 'postgres-'));

  private constructor(
    readonly port: number,
    private readonly settings: Settings,
  ) {
    if (SERVER_USER?.uid !== undefined) chownSync(this.directory, SERVER_USER.uid, SERVER_USER.gid ?? SERVER_USER.uid);
  }

  /** @param settings beside those that make it the test's own. */
  static async start(settings: Settings = {}): Promise<PostgresServer> {
    const server = new PostgresServer(await freePort(), settings);
    await run('initdb', ['-D', server.data, '-U', 'postgres', '-A', 'trust', '--no-sync']);
    await server.start();
    return server;
  }

  /** Starts a streaming replica of a server that accepts connections. */
  static async follow(primary: PostgresServer): Promise<PostgresServer> {
    const server = new PostgresServer(await freePort(), {});
    await run('pg_basebackup', ['-D', server.data, '-d', primary.url, '-R', '-X', 'stream', '-c', 'fast', '--no-sync']);
    await server.start();
    return server;
  }

  /** Makes a replica a primary, and waits until it takes writes. */
  async promote(): Promise<void> {
    await run('pg_ctl', ['promote', '-D', this.data, '-w']);
  }

  /** The URL of the default database. */
  get url(): string {
    return `postgresql://postgres@127.0.0.1:${this.port}/postgres`;
  }

  /** It accepts connections shortly afterwards or, after a crash, once it has recovered. */
  async start(): Promise<void> {
    const settings = {
      listen_addresses: '127.0.0.1',
      port: this.port,
      unix_socket_directories: '',
      fsync: 'off',
      ...this.settings,
    };
    const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    this.process = spawnServer('postgres', ['-D', this.data, ...options]);
    await once(this.process, 'spawn');
  }

  async stop(how: Stop): Promise<void> {
    const { process } = this;
    if (!process || process.exitCode !== null || process.signalCode) return;
    const gone = once(process, 'exit');
    process.kill(how);
    await gone;
  }

  async remove(): Promise<void> {
    await this.stop('SIGQUIT');
    rmSync(this.directory, { recursive: true, force: true });
  }

  private get data(): string {
    return join(this.directory, 'data');
  }
}

async function run(program: string, args: string[]): Promise<void> {
  const [code] = await once(spawnServer(program, args), 'exit');
  if (code !== 0) throw new Error(`${program} ended with ${code}`);
}

function spawnServer(program: string, args: string[]): ChildProcess {
  const options: SpawnOptions = {
    ...SERVER_USER,
    cwd: tmpdir(),
    stdio: 'ignore',
    env: { PATH: process.env.PATH, LC_ALL: 'C' },
  };
  return spawn(join(BINARIES ?? '', program), args, options);
}

function directories(): string[] {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).map((version) => join(debian, version, 'bin')) : [];
  return [...versions, ...(process.env.PATH ?? '').split(':')];
}

/** The user to run the server as; `undefined` if there is none. */
function userOfServer(): { uid?: number; gid?: number } | undefined {
  if (process.getuid?.() !== 0) return {};
  const id = (option: string) => Number(execFileSync('id', [option, 'postgres'], { stdio: 'pipe' }));
  try {
    return { uid: id('-u'), gid: id('-g') };
  } catch {
    return undefined;
  }
}
