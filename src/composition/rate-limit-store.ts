import type { FastifyBaseLogger } from 'fastify';
import type { Redis } from 'ioredis';
import type { Config } from '../config';
import { placeOf } from '../database/connections/connection-settings';
import { reasonOf } from '../database/failures';
import { CountingStore, type OnUsage } from '../rate-limit/stores/counting-store';
import { FallbackStore } from '../rate-limit/stores/fallback-store';
import { MemoryStore } from '../rate-limit/stores/memory-store';
import { faultOf } from '../rate-limit/stores/redis-client';
import { RedisStore } from '../rate-limit/stores/redis-store';

/** The share of each quota that an instance, with all its workers, grants while Redis is unreachable. */
const FALLBACK_SHARE = 0.5;

/** The rate-limit store: in memory, or in Redis with memory as the fallback. */
export function createLimits(
  config: Config,
  redis: Redis | undefined,
  logger: FastifyBaseLogger,
  now: () => number,
  onUsage: OnUsage,
): CountingStore {
  const bans = { banAfter: config.BAN_AFTER, banSeconds: config.BAN_SECONDS, banMaxSeconds: config.BAN_MAX_SECONDS };
  const memory = new MemoryStore({ bans, now });
  if (!redis) return new CountingStore(memory, now, onUsage);
  const share = FALLBACK_SHARE / config.WEB_CONCURRENCY;
  const place = config.REDIS_URL && placeOf(config.REDIS_URL);
  const onState = (state: 'redis' | 'fallback', error?: unknown) =>
    logger.warn(
      { limits: state, redis: place, reason: error && reasonOf(faultOf(redis) ?? error) },
      'rate-limit store changed',
    );
  const shared = new RedisStore(redis, { bans, now });
  return new CountingStore(new FallbackStore(shared, memory, { share, onState }), now, onUsage);
}
