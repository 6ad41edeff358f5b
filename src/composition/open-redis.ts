import { parseRedisAddress } from '../redis/redis-address';
import { connectRedis, type RedisClient } from '../redis/redis-client';
import { refusalAt, refusalIn } from '../redis/refusals';

/**
 * Connects to Redis. One that cannot be reached does not stop the start: limits are then counted in memory.
 * @throws Error if it refuses this client, or is not of the kind that the URL says.
 */
export async function openRedis(url: string): Promise<RedisClient> {
  const refusal = await refusalAt(parseRedisAddress(url));
  if (refusal !== undefined) throw new Error(`REDIS_URL: ${refusal}`);
  return connectRedis(url);
}

/** Names the setting that is to blame for what Redis does not allow. */
export function refuse(error: unknown): never {
  const refusal = refusalIn(error);
  throw refusal === undefined ? error : new Error(`REDIS_URL: ${refusal}`);
}
