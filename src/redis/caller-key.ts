import type { RedisClient } from './redis-client';

/**
 * The key of what Redis holds of a caller. In a cluster all keys of one caller are in one slot, that of its id, so that
 * they move and fail together.
 * @param prefix says what it is: `ratelimit:`.
 */
export function callerKey({ isCluster }: Pick<RedisClient, 'isCluster'>, prefix: string, id: string): string {
  return isCluster ? `${prefix}{${id}}` : prefix + id;
}
