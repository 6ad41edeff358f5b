import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../helper/free-port';
import { SERVER_USER } from '../helper/postgres-server';
import { findProgram } from '../helper/programs';
import { accepts, Server } from '../helper/server';
import { until } from '../helper/until';

const BINARY = '/usr/sbin/pgbouncer';
export const CAN_START_PGBOUNCER = SERVER_USER !== undefined && findProgram('PgBouncer', [BINARY]) !== undefined;

export class PgBouncer extends Server {
  /** The URL of the PostgreSQL server through PgBouncer, without the parameter `pgbouncer=true`. */
  url = '';

  /**
   * @param url the URL of the PostgreSQL server.
   * @param settings settings in the section `pgbouncer` of the configuration.
   */
  static async start(url: string, settings: Record<string, string | number>): Promise<PgBouncer> {
    const { hostname, port, username } = new URL(url);
    const pooler = new PgBouncer();
    const listen = await freePort();
    const all = {
      listen_addr: '127.0.0.1',
      listen_port: listen,
      unix_socket_dir: '',
      auth_type: 'trust',
      auth_file: join(pooler.directory, 'users'),
      ...settings,
    };
    const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}\n`);
    const databases = `[databases]\n* = host=${hostname} port=${port}\n`;
    writeFileSync(join(pooler.directory, 'ini'), `${databases}[pgbouncer]\n${lines.join('')}`);
    writeFileSync(join(pooler.directory, 'users'), `"${username}" ""\n`);
    chmodSync(pooler.directory, 0o755);
    pooler.run(BINARY, ['-q', join(pooler.directory, 'ini')], SERVER_USER);
    await until(() => accepts(listen));
    pooler.url = Object.assign(new URL(url), { host: `127.0.0.1:${listen}` }).href;
    return pooler;
  }
}
