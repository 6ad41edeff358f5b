import { connectRedis, faultOf, type RedisClient } from '../redis/redis-client';
import { refusalIn } from '../redis/refusals';

/**
 * Connects to Redis. One that cannot be reached does not stop the start: limits are then counted in memory.
 * @throws Error if Redis rejects this client.
 */
export async function openRedis(url: string): Promise<RedisClient> {
  const redis = await connectRedis(url);
  const fault = faultOf(redis);
  if (refusalIn(fault) === undefined) return redis;
  redis.disconnect();
  return refuse(fault);
}

/** Names the setting that is to blame for what Redis does not allow. */
export function refuse(error: unknown): never {
  const refusal = refusalIn(error);
  throw refusal === undefined ? error : new Error(`REDIS_URL: ${refusal}`);
}
