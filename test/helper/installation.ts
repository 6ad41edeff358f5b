import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyData } from './prepared';
import { GatewayProcess } from './process';

const MEMORY = '/dev/shm';
const ENOUGH_BYTES = 2 ** 30;

/** Creates a directory for data directories, in memory if possible, because copying 40 MB to a slow disk takes a second. */
export function makeDirectory(): string {
  return mkdtempSync(join(hasRoom(MEMORY) ? MEMORY : tmpdir(), 'petstore-'));
}

function hasRoom(path: string): boolean {
  if (!existsSync(path)) return false;
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize > ENOUGH_BYTES;
}

/** A data directory, and the gateway process that uses it. The process can be stopped and started again. */
export class Installation {
  readonly directory = makeDirectory();
  readonly data = join(this.directory, 'data');
  private current: GatewayProcess | undefined;

  /**
   * @param environment the environment of each start.
   * @param by the command line that starts the gateway; by default the command line of {@link GatewayProcess}.
   */
  constructor(
    private readonly environment: Record<string, string>,
    private readonly by?: [string, ...string[]],
  ) {
    copyData(this.data);
  }

  /** Returns the running process. Starts a process if none runs. */
  async running(): Promise<GatewayProcess> {
    return this.current && !this.current.isEnded ? this.current : this.start();
  }

  /** Stops any running process, and starts a new process. @param more additional environment variables for this start. */
  async start(more: Record<string, string> = {}): Promise<GatewayProcess> {
    await this.current?.stop();
    this.current = await GatewayProcess.start({ DATA_DIR: this.data, ...this.environment, ...more }, this.by);
    return this.current;
  }

  /** Kills the running process, and removes the data directory. */
  async remove(): Promise<void> {
    await this.current?.stop('SIGKILL');
    rmSync(this.directory, { recursive: true, force: true });
  }
}
