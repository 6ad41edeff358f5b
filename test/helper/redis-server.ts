import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
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
    readonly port: number,
    private readonly options: readonly string[],
  ) {}

  /** @param options more of the command line, such as `['--requirepass', 'secret']`. */
  static async start(binary: string, options: readonly string[] = []): Promise<RedisServer> {
    const server = new RedisServer(binary, await freePort(), options);
    await server.start();
    return server;
  }

  /** A Sentinel. @param configuration the lines of its file. */
  static async startSentinel(binary: string, configuration: readonly string[]): Promise<RedisServer> {
    const server = new RedisServer(binary, await freePort(), ['--sentinel']);
    writeFileSync(server.file, configuration.join('\n'));
    await server.start();
    return server;
  }

  get url(): string {
    return `redis://${this.host}`;
  }

  /** Whether it is a replica that has everything its master has sent. */
  async follows(): Promise<boolean> {
    return (await this.ask(['INFO', 'replication'])).includes('master_link_status:up');
  }

  /** Runs a command. @returns its reply as a text. */
  async ask([command = '', ...args]: readonly string[]): Promise<string> {
    const redis = new Redis(this.url, { retryStrategy: null, commandTimeout: 2000 });
    redis.on('error', () => undefined);
    try {
      return String(await redis.call(command, ...args));
    } finally {
      redis.disconnect();
    }
  }

  private get file(): string {
    return join(this.directory, 'sentinel.conf');
  }

  get host(): string {
    return `127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const isSentinel = existsSync(this.file);
    const files = isSentinel ? [] : ['--save', '', '--appendonly', 'no', '--repl-diskless-sync-delay', '0'];
    const network = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.directory];
    const args = [...(isSentinel ? [this.file] : []), ...network, ...files, ...this.options];
    this.process = spawn(this.binary, args, { stdio: ['ignore', 'pipe', 'ignore'] });
    let log = '';
    for await (const line of this.process.stdout ?? []) {
      log += line;
      if (/Ready to accept|Sentinel ID is/.test(log)) return;
    }
    throw new Error(`Redis did not start: ${log}`);
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
