import { once } from 'node:events';
import { type Cluster, Redis } from 'ioredis';
import { clusterClient } from './cluster-client';
import { parseRedisAddress } from './redis-address';
import { clientOptions } from './redis-options';

/** A client of one server, found through Sentinels or not, or of a cluster. */
export type RedisClient = Redis | Cluster;

const NAME = 'rate-limit'; // of each connection, in Redis

const faults = new WeakMap<RedisClient, Error>();

/** Why a client is not connected; `undefined` while it is. */
export function faultOf(redis: RedisClient): Error | undefined {
  return faults.get(redis);
}

/**
 * A Redis client that never keeps a request waiting: a command that cannot be sent now fails now, so that the caller
 * can fall back; one in flight when the connection broke is not resent, since it has been counted elsewhere. It
 * reconnects for as long as it exists, to the master that the Sentinels name, or to the nodes that a cluster names.
 * @param patienceMs how long to wait for the first connection; the client is returned either way.
 */
export async function connectRedis(url: string, patienceMs = 2000): Promise<RedisClient> {
  const address = parseRedisAddress(url);
  const redis = address.form === 'cluster' ? clusterClient(address, NAME) : new Redis(clientOptions(address, NAME));
  return connected(redis, patienceMs);
}

/**
 * The key of what Redis holds of a caller. In a cluster all keys of one caller are in one slot, that of its id, so that
 * they move and fail together.
 * @param prefix says what it is: `ratelimit:`.
 */
export function callerKey({ isCluster }: RedisClient, prefix: string, id: string): string {
  return isCluster ? `${prefix}{${id}}` : prefix + id;
}

/** From here to `uncork` commands are gathered, for one write to each server: it costs more than what leads to it. */
export function cork(redis: RedisClient): void {
  if (redis instanceof Redis) redis.stream?.cork();
  else for (const { stream } of redis.nodes('master')) stream?.cork();
}

/** Sends what was gathered. A stream that was not corked is not touched. */
export function uncork(redis: RedisClient): void {
  if (redis instanceof Redis) redis.stream?.uncork();
  else for (const { stream } of redis.nodes('master')) stream?.uncork();
}

/** The client, once it is connected or `patienceMs` have passed. */
export async function connected<Client extends RedisClient>(redis: Client, patienceMs: number): Promise<Client> {
  // Each failure reaches the command it concerns, but not the reason why there is no connection.
  redis.on('error', (error) => faults.set(redis, error.lastNodeError ?? error));
  redis.on('ready', () => faults.delete(redis));
  redis.on('close', () => faults.has(redis) || faults.set(redis, new Error('the connection was closed')));
  await once(redis, 'ready', { signal: AbortSignal.timeout(patienceMs) }).catch(() => undefined);
  return redis;
}
