import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { command, PROJECT, TYPESCRIPT } from './command';
import { ADMIN_KEY } from './gateway';
import { ask } from './load';
import { until } from './until';

type Line = readonly [program: string, ...args: string[]];

/** Adds a flag with which V8 does not optimize PGlite's WebAssembly. A start then takes a third less time. */
export function quick([node, ...args]: Line): [string, ...string[]] {
  return [node, '--liftoff-only', ...args];
}

/** The command that starts the gateway. */
export const MAIN: Line = quick(command('main'));

/** How a process ended, and its output. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

function wholeLines(text: string): string[] {
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter(Boolean);
}

/** The complete lines of a JSON log. */
export function logOf(stdout: string): Record<string, unknown>[] {
  return wholeLines(stdout).map((line) => JSON.parse(line));
}

/** A child process. Its environment is only `environment`, and its default working directory has no `.env` file. */
export class Program {
  stdout = '';
  stderr = '';
  isEnded = false;
  readonly ended: Promise<Ending>;
  protected readonly child: ChildProcess;

  constructor([program, ...args]: Line, environment: Record<string, string>, cwd = tmpdir()) {
    this.child = spawn(program, args, { env: environment, cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
    });
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    this.ended = once(this.child, 'close').then(([code, signal]) => {
      this.isEnded = true;
      return { code, signal, stdout: this.stdout, stderr: this.stderr };
    });
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** The complete lines of its output. */
  get lines(): string[] {
    return wholeLines(this.stdout);
  }

  /** Waits for this many lines of output. @throws Error if the process ends first. */
  async printed(count: number): Promise<string[]> {
    await until(async () => this.isEnded || this.lines.length >= count, 60);
    if (this.lines.length < count) throw new Error(`The process ended: ${this.stderr}`);
    return this.lines;
  }

  /** Stops to read its output. */
  stopReading(): void {
    this.child.stdout?.pause();
  }

  /** Closes the pipe of its output. */
  closeOutput(): void {
    this.child.stdout?.destroy();
  }

  /** Sends a signal. @returns how the process ended. */
  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Ending> {
    this.child.kill(signal);
    return this.ended;
  }
}

/** Runs a TypeScript file. @param file relative to the project. */
export function runTypeScript(file: string, args: string[], environment: Record<string, string> = {}): Program {
  return new Program([...quick(TYPESCRIPT), join(PROJECT, file), ...args], {
    PATH: process.env.PATH ?? '',
    ...environment,
  });
}

/** Runs a command that the gateway has printed in a shell. @returns its output, which must be JSON. */
export async function inShell(command: unknown, environment: Record<string, string> = {}): Promise<unknown> {
  const env = { PATH: process.env.PATH, ...environment };
  return JSON.parse((await promisify(execFile)('sh', ['-c', String(command)], { env })).stdout);
}

/** The gateway as a separate process. */
export class GatewayProcess extends Program {
  constructor(environment: Record<string, string>, line: Line = MAIN, cwd?: string) {
    super(line, environment, cwd);
  }

  /** Starts the gateway on a free port and waits until it reports its URL. @throws Error if it ends first. */
  static async start(environment: Record<string, string>, line = MAIN): Promise<GatewayProcess> {
    const started = new GatewayProcess({ PORT: '0', ...environment }, line);
    while (!started.url) {
      if (started.isEnded) throw new Error(`The gateway ended: ${JSON.stringify(await started.ended)}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return started;
  }

  /** The reported URL; empty until the gateway reports it. */
  get url(): string {
    return /"Explore":"([^"]+)".*\n|^ {2}Explore +(\S+)[\s\S]*\n\r?\n/m.exec(this.stdout)?.slice(1).join('') ?? '';
  }

  /** The fields of the startup report, if output is not a terminal. */
  get report(): Record<string, unknown> {
    return logOf(this.stdout).find(({ Explore }) => Explore !== undefined) ?? {};
  }

  /** The ids of its worker processes. */
  get workers(): number[] {
    const { stdout } = spawnSync('pgrep', ['-P', String(this.pid)], { encoding: 'utf8' });
    return stdout.split('\n').filter(Boolean).map(Number);
  }

  /** The number of workers that accept connections, according to the metrics. */
  async serving(): Promise<number> {
    return Number(/^petstore_workers (\d+)$/m.exec(await this.metrics())?.[1]);
  }

  /** Reads `/metrics`, on `METRICS_PORT` if that is set. Closes the connection. */
  async metrics(): Promise<string> {
    const headers = { 'x-api-key': String(this.report['Admin key'] ?? ADMIN_KEY), connection: 'close' };
    const url = String(this.report.Metrics ?? this.url).replace(/\/metrics$/, '');
    return (await ask(url, { path: '/metrics', headers })).body ?? '';
  }

  /** Sends a signal to the process and its workers, as a terminal does. @returns how the process ended. */
  stopAll(signal: NodeJS.Signals): Promise<Ending> {
    if (!this.isEnded) for (const pid of [this.pid, ...this.workers]) process.kill(pid, signal);
    return this.ended;
  }

  /** Runs a GraphQL operation and closes the connection, because an idle connection delays the exit by a second. */
  async graphql<Answer = unknown>(query: string, headers: Record<string, string> = {}): Promise<Answer> {
    const response = await fetch(`${this.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', connection: 'close', ...headers },
      body: JSON.stringify({ query }),
    });
    return response.json() as Promise<Answer>;
  }
}
