import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyData } from './prepared';
import { GatewayProcess } from './process';

const MEMORY = '/dev/shm';
const ENOUGH_BYTES = 2 ** 30;

/** A new directory for data directories. In memory if there is room: to copy 40 MB to a slow disk takes a second. */
export function makeDirectory(): string {
  return mkdtempSync(join(hasRoom(MEMORY) ? MEMORY : tmpdir(), 'petstore-'));
}

function hasRoom(path: string): boolean {
  if (!existsSync(path)) return false;
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize > ENOUGH_BYTES;
}

/** One data directory, and the gateway on it: started, stopped, and started again. */
export class Installation {
  readonly directory = makeDirectory();
  readonly data = join(this.directory, 'data');
  private current: GatewayProcess | undefined;

  /**
   * @param environment of each start.
   * @param by the command that starts it; by default the gateway itself.
   */
  constructor(
    private readonly environment: Record<string, string>,
    private readonly by?: [string, ...string[]],
  ) {
    copyData(this.data);
  }

  /** The process that runs. Starts one if there is none, or if the last one has ended. */
  async running(): Promise<GatewayProcess> {
    return this.current && !this.current.isEnded ? this.current : this.start();
  }

  /** Starts a process, after the one that runs has stopped. @param more environment of this start only. */
  async start(more: Record<string, string> = {}): Promise<GatewayProcess> {
    await this.current?.stop();
    this.current = await GatewayProcess.start({ DATA_DIR: this.data, ...this.environment, ...more }, this.by);
    return this.current;
  }

  /** Kills the process that runs, and removes the data directory. */
  async remove(): Promise<void> {
    await this.current?.stop('SIGKILL');
    rmSync(this.directory, { recursive: true, force: true });
  }
}
