import { once } from 'node:events';
import { Redis } from 'ioredis';

const faults = new WeakMap<Redis, Error>();

/** Why a client has no connection; `undefined` while it has one. */
export function faultOf(redis: Redis): Error | undefined {
  return faults.get(redis);
}

/**
 * A client for {@link RedisStore} that never keeps a request waiting: what can't be sent now fails now, for the fallback to
 * answer; what was under way when the connection broke is not sent again, since it has been counted elsewhere.
 * It reconnects by itself for as long as it lives. ioredis 5.11.1's `socketTimeout` stays unset: its timer outlives the
 * connection it was for, and closes the next one.
 * @param name what Redis lists its connection as.
 * @param patienceMs how long to wait for the first attempt to connect; the client is given back whatever comes of it.
 */
export async function connectRedis(url: string, name = 'rate-limit', patienceMs = 2000): Promise<Redis> {
  const redis = new Redis(url, {
    connectionName: name,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    // A failure of that would reach nobody, and end the process. Who subscribes does so again by itself.
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 2000,
    disconnectTimeout: 500,
    keepAlive: 10_000,
    retryStrategy: (attempt) => Math.min(attempt * 100, 1000),
  });
  // Each failure reaches the command it concerns, but not why there is no connection.
  redis.on('error', (error) => faults.set(redis, error)).on('ready', () => faults.delete(redis));
  redis.on('close', () => faults.has(redis) || faults.set(redis, new Error('the connection was closed')));
  await once(redis, 'ready', { signal: AbortSignal.timeout(patienceMs) }).catch(() => undefined);
  return redis;
}
