import { once } from 'node:events';
import { Redis } from 'ioredis';

const faults = new WeakMap<Redis, Error>();

/** Why a client is not connected; `undefined` while it is. */
export function faultOf(redis: Redis): Error | undefined {
  return faults.get(redis);
}

/**
 * A Redis client that never keeps a request waiting: a command that cannot be sent now fails now, so that the caller
 * can fall back; one in flight when the connection broke is not resent, since it has been counted elsewhere. It
 * reconnects for as long as it exists. ioredis 5.11.1's `socketTimeout` stays unset: its timer outlives its connection
 * and closes the next one.
 * @param name the connection's name in Redis.
 * @param patienceMs how long to wait for the first connection; the client is returned either way.
 */
export async function connectRedis(url: string, name = 'rate-limit', patienceMs = 2000): Promise<Redis> {
  const redis = new Redis(url, {
    connectionName: name,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    // Nobody would handle its failure, which would end the process. Subscribers resubscribe themselves.
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 2000,
    disconnectTimeout: 500,
    keepAlive: 10_000,
    retryStrategy: (attempt) => Math.min(attempt * 100, 1000),
  });
  // Each failure reaches the command it concerns, but not the reason why there is no connection.
  redis.on('error', (error) => faults.set(redis, error)).on('ready', () => faults.delete(redis));
  redis.on('close', () => faults.has(redis) || faults.set(redis, new Error('the connection was closed')));
  await once(redis, 'ready', { signal: AbortSignal.timeout(patienceMs) }).catch(() => undefined);
  return redis;
}
