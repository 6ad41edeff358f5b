import type { FastifyBaseLogger } from 'fastify';
import { UsageRecorder } from '../access/usage-recorder';
import { UsageService } from '../access/usage-service';
import type { Database } from '../database/database';
import { reasonOf } from '../database/failures';

/** What callers use: counted here, and told over the API. */
export function createUsage(database: Database, logger: FastifyBaseLogger, now: () => number) {
  const recorder = new UsageRecorder(database, {
    now,
    onState: (error) =>
      error === undefined
        ? logger.info('usage is saved again')
        : logger.warn({ reason: reasonOf(error) }, 'usage could not be saved; it is kept in memory meanwhile'),
  });
  return { recorder, service: new UsageService(recorder, now) };
}
