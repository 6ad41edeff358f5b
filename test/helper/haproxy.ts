import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from './free-port';
import { findProgram } from './programs';
import { accepts, Server } from './server';
import { until } from './until';

const BINARY = '/usr/sbin/haproxy';
export const CAN_START_HAPROXY = findProgram('HAProxy', [BINARY]) !== undefined;

export class HaProxy extends Server {
  /** `127.0.0.1:port` */
  host = '';

  /** @param section the lines of the only `listen` section, without the address. */
  static async start(section: readonly string[]): Promise<HaProxy> {
    const proxy = new HaProxy();
    const port = await freePort();
    const timeouts = ['timeout connect 2s', 'timeout client 1h', 'timeout server 1h'];
    const listen = [`bind 127.0.0.1:${port}`, 'http-check expect status 200', ...section];
    const lines = ['global', 'maxconn 500', 'defaults', ...timeouts, 'listen servers', ...listen];
    writeFileSync(join(proxy.directory, 'cfg'), `${lines.join('\n')}\n`);
    proxy.run(BINARY, ['-db', '-f', join(proxy.directory, 'cfg')]);
    await until(() => accepts(port));
    proxy.host = `127.0.0.1:${port}`;
    return proxy;
  }
}
