import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { command, PROJECT } from './command';
import { IS_FULL } from './full';
import { ADMIN_KEY } from './gateway';
import { ask } from './load';

/** The gateway. The full suite runs it as production does. */
const MAIN = IS_FULL ? command('main') : quick(command('main'));

/** Compiles the embedded PostgreSQL's WebAssembly once, and not again for speed: a start takes a third less. */
export function quick([node, ...args]: readonly [string, ...string[]]): [string, ...string[]] {
  return [node, '--liftoff-only', ...args];
}

/** The command from the README. */
export const NPM_START: [string, ...string[]] = ['npm', '--prefix', PROJECT, 'start'];

/** How a process ended, and its output. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command, on a terminal of its own: output to it is what a user sees. */
export function inTerminal(line: readonly string[]): [string, ...string[]] {
  return process.platform === 'darwin'
    ? ['script', '-q', '/dev/null', ...line]
    : ['script', '-qec', line.join(' '), '/dev/null'];
}

/** The lines of a log that have been written whole. */
export function logOf(stdout: string): Record<string, unknown>[] {
  const lines = stdout.slice(0, stdout.lastIndexOf('\n') + 1).split('\n');
  return lines.filter(Boolean).map((line) => JSON.parse(line));
}

/** The built gateway as a separate process, with no environment but `environment`. */
export class GatewayProcess {
  stdout = '';
  stderr = '';
  readonly ended: Promise<Ending>;
  isEnded = false;
  private readonly child: ChildProcess;

  constructor(environment: Record<string, string>, [program = '', ...args]: readonly string[] = MAIN) {
    this.child = spawn(program, args, {
      env: environment,
      cwd: tmpdir(), // has no .env
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
    });
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    this.ended = once(this.child, 'close').then(([code, signal]) => {
      this.isEnded = true;
      const { stdout, stderr } = this;
      return { code, signal, stdout, stderr };
    });
  }

  /** Starts one on a free port and waits until it reports its URL. @throws Error if it ends first. */
  static async start(environment: Record<string, string>, by = MAIN): Promise<GatewayProcess> {
    const started = new GatewayProcess({ PORT: '0', ...environment }, by);
    while (!started.url) {
      if (started.isEnded) throw new Error(`It ended: ${JSON.stringify(await started.ended)}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return started;
  }

  /** The URL that it has reported; empty until then. */
  get url(): string {
    return /"Explore":"([^"]+)".*\n|^ {2}Explore +(\S+)[\s\S]*\n\r?\n/m.exec(this.stdout)?.slice(1).join('') ?? '';
  }

  /** What it has reported of itself, by name, not in a terminal. */
  get report(): Record<string, unknown> {
    return logOf(this.stdout).find(({ Explore }) => Explore !== undefined) ?? {};
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** The processes it has started. */
  get workers(): number[] {
    const { stdout } = spawnSync('pgrep', ['-P', String(this.pid)], { encoding: 'utf8' });
    return stdout.split('\n').filter(Boolean).map(Number);
  }

  /** Number of workers accepting connections, according to its metrics. */
  async serving(): Promise<number> {
    return Number(/^petstore_workers (\d+)$/m.exec(await this.metrics())?.[1]);
  }

  /** Its metrics: with `METRICS_PORT` from there, otherwise from the main port. The connection is not kept open. */
  async metrics(): Promise<string> {
    const headers = { 'x-api-key': String(this.report['Admin key'] ?? ADMIN_KEY), connection: 'close' };
    const url = String(this.report.Metrics ?? this.url).replace(/\/metrics$/, '');
    return (await ask(url, { path: '/metrics', headers })).body ?? '';
  }

  /** Sends a signal to it and its workers, as a terminal does. @returns how it ended. */
  stopAll(signal: NodeJS.Signals): Promise<Ending> {
    if (!this.isEnded) for (const pid of [this.pid, ...this.workers]) process.kill(pid, signal);
    return this.ended;
  }

  /** Sends a signal. @returns how it ended. */
  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Ending> {
    this.child.kill(signal);
    return this.ended;
  }

  /** Runs a GraphQL operation, on a connection of its own: the process waits a second for idle ones when it stops. */
  async graphql<Answer = unknown>(query: string, headers: Record<string, string> = {}): Promise<Answer> {
    const response = await fetch(`${this.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', connection: 'close', ...headers },
      body: JSON.stringify({ query }),
    });
    return response.json() as Promise<Answer>;
  }
}
