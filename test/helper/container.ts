import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { freePort } from './free-port';
import type { Image } from './image-build';
import { ask, type Tried } from './load';

/** The command of an image, running. */
export class Container {
  output = '';
  private readonly ended: Promise<unknown[]>;

  private constructor(
    private readonly image: Image,
    private readonly child: ChildProcess,
    private readonly environment: Readonly<Record<string, string>>,
  ) {
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.output += text;
      });
    this.ended = once(child, 'close');
  }

  /** @param environment beside the image's. */
  static async start(image: Image, environment: Record<string, string>): Promise<Container> {
    const all = { ...image.running.environment, PORT: String(await freePort()), ...environment };
    const child = image.root.spawn(image.command, { ...image.running, environment: all });
    return new Container(image, child, all);
  }

  ask(path: string, headers: Record<string, string> = {}, body?: object): Promise<Tried> {
    const method = body ? 'POST' : 'GET';
    const more = { ...headers, ...(body && { 'content-type': 'application/json' }) };
    return ask(`http://127.0.0.1:${this.environment.PORT}`, {
      path,
      method,
      headers: more,
      body: JSON.stringify(body),
    });
  }

  /** Runs the image's health check. @returns whether it is healthy. */
  async isHealthy(): Promise<boolean> {
    const { image, environment } = this;
    const [code] = await once(image.root.spawn(image.healthCheck, { ...image.running, environment }), 'exit');
    return code === 0;
  }

  /** Its process 1, as the machine knows it. */
  get process1(): { pid: number; uid: number; capabilities: string } {
    const own = String(this.child.pid);
    const pid = readdirSync('/proc').find((name) => /^\d+$/.test(name) && fieldOf(name, 'PPid') === own) ?? '';
    return { pid: Number(pid), uid: Number(fieldOf(pid, 'Uid')), capabilities: fieldOf(pid, 'CapBnd') };
  }

  /** Sends SIGTERM to process 1, as `docker stop` does. @returns its exit code. */
  async stop(): Promise<number | null> {
    process.kill(this.process1.pid, 'SIGTERM');
    const [code] = await this.ended;
    return code as number | null;
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }
}

/** The first word of a line of /proc/PID/status. */
function fieldOf(pid: string, name: string): string {
  try {
    return new RegExp(`^${name}:\\s+(\\S+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '';
  } catch {
    return '';
  }
}
