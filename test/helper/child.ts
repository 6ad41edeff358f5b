import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PROJECT, TYPESCRIPT } from './command';
import { quick } from './process';

/** A child process that runs a TypeScript file. */
export class Child {
  /** Its standard error so far. */
  stderr = '';
  private readonly lines: string[] = [];
  private readonly ended: Promise<number | null>;
  private wake = () => {};

  constructor(private readonly process: ChildProcess) {
    process.stderr?.on('data', (data) => {
      this.stderr += data;
    });
    if (process.stdout) {
      createInterface(process.stdout).on('line', (line) => {
        this.lines.push(line);
        this.wake();
      });
    }
    this.ended = once(process, 'close').then(([code]) => {
      this.wake();
      return code;
    });
  }

  get pid(): number {
    return this.process.pid ?? 0;
  }

  /** The next line of its standard output. @throws Error with its standard error if it has ended. */
  async line(): Promise<string> {
    for (;;) {
      const line = this.lines.shift();
      if (line !== undefined) return line;
      if (this.process.exitCode !== null || this.process.signalCode) throw new Error(`ended: ${this.stderr}`);
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  /** Waits until it ends by itself. @returns its unread lines and exit code. */
  async end(): Promise<{ code: number | null; lines: string[]; stderr: string }> {
    const code = await this.ended;
    return { code, lines: this.lines.splice(0), stderr: this.stderr };
  }

  /** Kills it and waits until it has ended. @returns its last lines. */
  async kill(signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<string[]> {
    this.process.kill(signal);
    return (await this.end()).lines;
  }
}

/**
 * Runs a TypeScript file with `environment`; of this process's environment it gets only PATH.
 * @param file relative to the project.
 */
export function runTypeScript(file: string, args: string[], environment: Record<string, string> = {}): Child {
  const [node, ...options] = quick(TYPESCRIPT);
  return new Child(
    spawn(node, [...options, join(PROJECT, file), ...args], {
      env: { PATH: process.env.PATH ?? '', ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
}
