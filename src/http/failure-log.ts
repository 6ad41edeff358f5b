import type { FastifyBaseLogger } from 'fastify';
import { reasonOf } from '../database/failures';

const EVERY_MS = 1_000;

/** Logs failures of one kind at most once per second, with their number, since an outage may cause thousands per second. */
export class FailureLog {
  private count = 0;
  private latest: unknown;
  private timer: NodeJS.Timeout | undefined;

  /** @param message the text of each log line. */
  constructor(
    private readonly logger: Pick<FastifyBaseLogger, 'error'>,
    private readonly message: string,
  ) {}

  /** Counts a failure. The first failure is logged at once, later failures together at the end of each second. */
  add(error: unknown): void {
    this.count += 1;
    this.latest = error;
    if (this.timer) return;
    this.write();
    this.timer = setInterval(() => this.write(), EVERY_MS).unref();
  }

  /** Logs the failures that are not logged yet. */
  close(): void {
    if (this.count) this.write();
    clearInterval(this.timer);
  }

  private write(): void {
    const { count: failures, latest } = this;
    if (!failures) {
      clearInterval(this.timer);
      this.timer = undefined;
      return;
    }
    this.count = 0;
    this.logger.error({ failures, reason: reasonOf(latest) }, this.message);
  }
}
