import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A server that a test starts and stops: a process with a directory. */
export abstract class Server {
  readonly directory = mkdtempSync(join(tmpdir(), 'petstore-server-'));
  private process: ChildProcess | undefined;

  protected run(program: string, args: readonly string[], options: SpawnOptions = {}): ChildProcess {
    this.process = spawn(program, args, { cwd: tmpdir(), stdio: 'ignore', ...options });
    return this.process;
  }

  protected signal(signal: NodeJS.Signals): void {
    this.process?.kill(signal);
  }

  /** Ends the process, if it runs. */
  async stop(signal: NodeJS.Signals): Promise<void> {
    const { process } = this;
    if (!process || process.exitCode !== null || process.signalCode) return;
    const gone = once(process, 'exit');
    process.kill(signal);
    await gone;
  }

  async remove(): Promise<void> {
    await this.stop('SIGKILL');
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** Whether a process listens on this port. */
export function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1').on('error', () => resolve(false));
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}
