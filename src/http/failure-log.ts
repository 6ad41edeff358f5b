import type { FastifyBaseLogger } from 'fastify';
import { reasonOf } from '../database/failures';
import { problemOf } from '../errors/errors';

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

  /** Counts a failure. The first one is logged at once, later ones together at the end of each second. */
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

/**
 * Logs errors whose details are hidden from callers: failures of the database, which may be thousands per second, with their
 * number once per second, and all other errors in full.
 */
export class ErrorLog {
  private readonly failures: FailureLog;

  constructor(private readonly logger: Pick<FastifyBaseLogger, 'error'>) {
    this.failures = new FailureLog(logger, 'database operations failed');
  }

  add(err: unknown, requestId: string): void {
    const { status, details } = problemOf(err);
    // The details say that the outcome of a write is unknown.
    if (status === 503 && !details) this.failures.add(err);
    else this.logger.error({ err, requestId });
  }

  close(): void {
    this.failures.close();
  }
}
