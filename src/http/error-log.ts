import type { FastifyBaseLogger } from 'fastify';
import { problemOf } from '../errors/errors';
import { FailureLog } from './failure-log';

/**
 * Logs errors whose details are hidden from callers. Failures of the database may be thousands per second, so their number is
 * logged once per second. All other errors are logged in full.
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
