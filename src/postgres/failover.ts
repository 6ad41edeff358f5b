import type { Server } from './database-server';

/** How often the host is asked whether it takes writes, in milliseconds. */
const EVERY_MS = 500;

/** Moves to another host once the one in use does not respond, or takes no writes, and the other one does. */
export class Failover {
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;

  constructor(
    private readonly server: Server,
    /** Whether the host in use takes writes. Rejects if it does not respond. */
    private readonly canWrite: () => Promise<boolean>,
  ) {
    this.schedule();
  }

  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
  }

  private schedule(): void {
    if (!this.isStopped) this.timer = setTimeout(() => void this.check(), EVERY_MS).unref();
  }

  private async check(): Promise<void> {
    // If none takes writes, readiness says so.
    const isRight = await this.canWrite().catch(() => false);
    if (!isRight && !this.isStopped) await this.server.locate().catch(() => undefined);
    this.schedule();
  }
}
