import type { FastifyBaseLogger } from 'fastify';
import { reasonOf } from '../database/failures';
import { CountingStore, type OnUsage } from '../rate-limit/counting-store';
import { FallbackStore } from '../rate-limit/fallback-store';
import { MemoryStore } from '../rate-limit/memory-store';
import { RedisStore } from '../rate-limit/redis-store';
import { parseRedisAddress, placeOfRedis } from '../redis/redis-address';
import { faultOf, type RedisClient } from '../redis/redis-client';
import { refusalIn } from '../redis/refusals';
import type { Config } from './config';
import { refuse } from './open-redis';

/** The share of each quota that an instance, with all its workers, grants while Redis is unreachable. */
const FALLBACK_SHARE = 0.5;

/** Enough keys that each of a cluster's nodes has one, all but certainly with up to ten of them. */
const CLUSTER_TRIALS = 64;

/**
 * The rate-limit store: in memory, or in Redis with memory as the fallback.
 * @throws Error if Redis does not let this user count.
 */
export async function createLimits(
  config: Config,
  redis: RedisClient | undefined,
  logger: FastifyBaseLogger,
  now: () => number,
  onUsage: OnUsage,
): Promise<CountingStore> {
  const bans = { banAfter: config.BAN_AFTER, banSeconds: config.BAN_SECONDS, banMaxSeconds: config.BAN_MAX_SECONDS };
  const memory = new MemoryStore({ bans, now });
  if (!redis) return new CountingStore(memory, onUsage);
  const share = FALLBACK_SHARE / config.WEB_CONCURRENCY;
  const place = config.REDIS_URL && placeOfRedis(parseRedisAddress(config.REDIS_URL));
  const onState = (state: 'redis' | 'fallback', error?: unknown) =>
    logger.warn(
      { limits: state, redis: place, reason: error && reasonOf(faultOf(redis) ?? error) },
      'rate-limit store changed',
    );
  const shared = new RedisStore(redis, { bans, now });
  const store = new FallbackStore(shared, memory, { share, onState, trials: redis.isCluster ? CLUSTER_TRIALS : 1 });
  await store
    .start((error) => refusalIn(error) !== undefined)
    .catch((error) => {
      redis.disconnect();
      return refuse(error);
    });
  return new CountingStore(store, onUsage);
}
