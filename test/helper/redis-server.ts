import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port';

const BINARIES = ['/usr/bin/redis-server', '/usr/local/bin/redis-server', '/opt/homebrew/bin/redis-server'];

/** Path of a Redis server that tests may start and kill, if there is one. */
export const REDIS_BINARY = BINARIES.find((path) => existsSync(path));

/** A Redis server of the test's own. */
export class RedisServer {
  private process: ChildProcess | undefined;
  private readonly directory = mkdtempSync(join(tmpdir(), 'redis-'));

  private constructor(
    private readonly binary: string,
    private readonly port: number,
  ) {}

  static async start(binary: string): Promise<RedisServer> {
    const server = new RedisServer(binary, await freePort());
    await server.start();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const args = [
      '--port',
      this.port,
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--appendonly',
      'no',
      '--dir',
      this.directory,
    ];
    this.process = spawn(this.binary, args.map(String), { stdio: ['ignore', 'pipe', 'ignore'] });
    for await (const line of this.process.stdout ?? []) if (String(line).includes('Ready to accept')) return;
  }

  /** Stops it from responding, without closing anything. */
  freeze(): void {
    this.process?.kill('SIGSTOP');
  }

  thaw(): void {
    this.process?.kill('SIGCONT');
  }

  async kill(): Promise<void> {
    const gone = this.process && once(this.process, 'exit');
    this.process?.kill('SIGKILL');
    await gone;
  }

  async remove(): Promise<void> {
    if (this.process?.exitCode === null && this.process.signalCode === null) await this.kill();
    rmSync(this.directory, { recursive: true, force: true });
  }
}
