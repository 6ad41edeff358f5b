import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '../database/database';
import { reasonOf } from '../database/failures';
import type { OnUsage } from '../rate-limit/stores/counting-store';
import { ANONYMOUS } from '../usage/daily-usage';
import { UsageRecorder } from '../usage/usage-recorder';
import { UsageService } from '../usage/usage-service';

/** What callers use: counted here, and told over the API. */
export function createUsage(database: Database, logger: FastifyBaseLogger, now: () => number) {
  const recorder = new UsageRecorder(database, {
    now,
    onState: (error) =>
      error === undefined
        ? logger.info('usage is saved again')
        : logger.warn({ reason: reasonOf(error) }, 'usage could not be saved; it is kept in memory meanwhile'),
  });
  const { counts } = recorder;
  const onUsage: OnUsage = (keyId = ANONYMOUS, requests, refused, bans) => counts.add(keyId, requests, refused, bans);
  return { onUsage, recorder, service: new UsageService(recorder, now), stop: () => recorder.stop() };
}
