import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port';
import { SERVER_USER } from './postgres-server';
import { until } from './until';

const BINARY = '/usr/sbin/pgbouncer';
export const CAN_START_PGBOUNCER = SERVER_USER !== undefined && existsSync(BINARY);

/** A PgBouncer of the test's own. */
export class PgBouncer {
  private constructor(
    private readonly process: ChildProcess,
    private readonly directory: string,
    /** The URL that was given, through PgBouncer, without `pgbouncer=true`. */
    readonly url: string,
  ) {}

  /** @param settings of its section `pgbouncer`. */
  static async start(url: string, settings: Record<string, string | number>): Promise<PgBouncer> {
    const { hostname, port, username } = new URL(url);
    const directory = mkdtempSync(join(tmpdir(), 'pgbouncer-'));
    const listen = await freePort();
    const all = {
      listen_addr: '127.0.0.1',
      listen_port: listen,
      unix_socket_dir: '',
      auth_type: 'trust',
      auth_file: join(directory, 'users'),
      ...settings,
    };
    const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
    const databases = `[databases]\n* = host=${hostname} port=${port || 5432}\n`;
    writeFileSync(join(directory, 'ini'), `${databases}[pgbouncer]\n${lines.join('\n')}\n`);
    writeFileSync(join(directory, 'users'), `"${username}" ""\n`);
    chmodSync(directory, 0o755);
    const process = spawn(BINARY, ['-q', join(directory, 'ini')], { ...SERVER_USER, stdio: 'ignore' });
    const through = new URL(url);
    through.host = `127.0.0.1:${listen}`;
    await until(() => accepts(listen));
    return new PgBouncer(process, directory, through.href);
  }

  async remove(): Promise<void> {
    const gone = once(this.process, 'exit');
    this.process.kill('SIGTERM');
    await gone;
    rmSync(this.directory, { recursive: true });
  }
}

/** Whether something listens there. */
export function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}
