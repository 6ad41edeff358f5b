import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from './free-port';
import { findProgram } from './programs';
import { Server } from './server';

const BINARIES = ['/usr/bin/redis-server', '/usr/local/bin/redis-server', '/opt/homebrew/bin/redis-server'];

/** Path of a Redis server that tests may start and kill, if there is one. */
export const REDIS_BINARY = findProgram('Redis', BINARIES);

export class RedisServer extends Server {
  private constructor(
    private readonly binary: string,
    readonly port: number,
    private readonly options: readonly string[],
  ) {
    super();
  }

  /** Starts a server. @param options additional command-line options, such as `['--requirepass', 'secret']`. */
  static async start(binary: string, options: readonly string[] = []): Promise<RedisServer> {
    const server = new RedisServer(binary, await freePort(), options);
    await server.start();
    return server;
  }

  /** Starts a Sentinel. @param configuration the lines of its file. */
  static async startSentinel(binary: string, configuration: readonly string[]): Promise<RedisServer> {
    const server = new RedisServer(binary, await freePort(), ['--sentinel']);
    writeFileSync(server.file, configuration.join('\n'));
    await server.start();
    return server;
  }

  get url(): string {
    return `redis://${this.host}`;
  }

  get host(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** Whether the server is a replica whose link to its master is up. */
  async follows(): Promise<boolean> {
    return (await this.ask(['INFO', 'replication'])).includes('master_link_status:up');
  }

  /** Runs a command. @returns its reply as text. */
  async ask(command: readonly string[]): Promise<string> {
    return String(await this.call(command));
  }

  /** Runs a command. @returns its reply. */
  async call([command = '', ...args]: readonly string[]): Promise<unknown> {
    const redis = new Redis(this.url, { retryStrategy: null, commandTimeout: 2000 });
    redis.on('error', () => undefined);
    try {
      return await redis.call(command, ...args);
    } finally {
      redis.disconnect();
    }
  }

  async start(): Promise<void> {
    // Another process may have taken the free port for a moment, as the local port of a connection.
    for (let attempt = 1; ; attempt++) {
      const log = await this.startOnce();
      if (log === undefined) return;
      if (attempt === 5 || !log.includes('Address already in use')) throw new Error(`Redis did not start: ${log}`);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }

  /** @returns the log if the server has ended instead of starting. */
  private async startOnce(): Promise<string | undefined> {
    const isSentinel = existsSync(this.file);
    const files = isSentinel ? [] : ['--save', '', '--appendonly', 'no', '--repl-diskless-sync-delay', '0'];
    const network = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.directory];
    const args = [...(isSentinel ? [this.file] : []), ...network, ...files, ...this.options];
    let log = '';
    for await (const text of this.run(this.binary, args, { stdio: ['ignore', 'pipe', 'ignore'] }).stdout ?? []) {
      log += text;
      if (/Ready to accept|Sentinel ID is/.test(log)) return undefined;
    }
    return log;
  }

  /** Stops the server from responding, without closing its connections. */
  freeze(): void {
    this.signal('SIGSTOP');
  }

  thaw(): void {
    this.signal('SIGCONT');
  }

  kill(): Promise<void> {
    return this.stop('SIGKILL');
  }

  private get file(): string {
    return join(this.directory, 'sentinel.conf');
  }
}
