import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port';
import { accepts } from './pgbouncer';
import { endOf } from './run';
import { until } from './until';

const BINARY = '/usr/bin/caddy';

/** Why no Caddy can be started here; `undefined` if one can. */
export const NO_CADDY = existsSync(BINARY) ? undefined : 'The proxy of compose.yaml is Caddy: apt-get install caddy.';

/** A Caddy of the test's own. */
export class Caddy {
  private constructor(
    private readonly process: ChildProcess,
    private readonly directory: string,
    readonly url: string,
  ) {}

  /**
   * @param caddyfile of a server on `:4000`, which it is not here.
   * @throws Error with what Caddy says of a file that it finds fault with.
   */
  static async start(caddyfile: string): Promise<Caddy> {
    const directory = mkdtempSync(join(tmpdir(), 'caddy-'));
    const port = await freePort();
    writeFileSync(join(directory, 'Caddyfile'), caddyfile.replace(/^:4000 /m, `http://127.0.0.1:${port} `));
    const caddy = (command: string) =>
      spawn(BINARY, [command, '--config', join(directory, 'Caddyfile'), '--adapter', 'caddyfile'], {
        env: { HOME: directory },
        stdio: command === 'run' ? 'ignore' : ['ignore', 'pipe', 'pipe'],
      });
    await endOf(caddy('validate'), 'caddy validate');
    const running = caddy('run');
    await until(() => accepts(port));
    return new Caddy(running, directory, `http://127.0.0.1:${port}`);
  }

  async remove(): Promise<void> {
    const gone = once(this.process, 'exit');
    this.process.kill('SIGKILL');
    await gone;
    rmSync(this.directory, { recursive: true });
  }
}
