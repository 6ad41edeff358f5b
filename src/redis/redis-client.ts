import { once } from 'node:events';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { parseRedisAddress, type RedisAddress } from './redis-address';
import { assertAccepted } from './refusals';

/** A client of one server, found through Sentinels or not, or of a cluster. */
export type RedisClient = Redis | Cluster;

/** How long a connection may take to be made, in milliseconds. */
const CONNECT_MS = 2000;
/** How often the nodes of a cluster are asked which slots they have, besides whenever one of them says so. */
const SLOTS_REFRESH_MS = 5000;

/**
 * A Redis client that never keeps a request waiting: a command that cannot be sent now fails now, so that the caller
 * can fall back; one in flight when the connection broke is not resent, since it has been counted elsewhere. It
 * reconnects for as long as it exists, to the master that the Sentinels name, or to the nodes that a cluster names.
 * @param patienceMs how long to wait for the first connection; the client is returned either way.
 * @throws Error that names the setting if Redis or TLS rejects this client.
 */
export async function connectRedis(url: string, patienceMs = 2000): Promise<RedisClient> {
  const address = parseRedisAddress(url);
  const options = optionsFor(address, 'rate-limit');
  return connected(address.form === 'cluster' ? clusterClient(address, options) : new Redis(options), patienceMs);
}

/**
 * The same for publishing and subscribing. In a cluster that is a connection to any one node of the URL, since a cluster
 * passes every message on to all of its nodes; the next connection is to another.
 */
export async function connectToPublish(url: string, patienceMs = 2000): Promise<Redis> {
  const address = parseRedisAddress(url);
  const options = optionsFor(address, 'events');
  if (address.form !== 'cluster') return connected(new Redis(options), patienceMs);
  const { hosts } = address;
  let next = Math.floor(Math.random() * hosts.length);
  const nextHost = () => hosts[next++ % hosts.length];
  const redis: Redis = new Redis({
    ...options,
    ...nextHost(),
    retryStrategy: (attempt) => {
      Object.assign(redis.options, nextHost());
      return backOff(attempt);
    },
  });
  return connected(redis, patienceMs);
}

const faults = new WeakMap<RedisClient, Error>();

/** Why a client is not connected; `undefined` while it is. */
export function faultOf(redis: RedisClient): Error | undefined {
  return faults.get(redis);
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
async function connected<Client extends RedisClient>(redis: Client, patienceMs: number): Promise<Client> {
  // Each failure reaches the command it concerns, but not the reason why there is no connection.
  redis.on('error', (error) => faults.set(redis, error.lastNodeError ?? error));
  redis.on('ready', () => faults.delete(redis));
  redis.on('close', () => faults.has(redis) || faults.set(redis, new Error('the connection was closed')));
  await once(redis, 'ready', { signal: AbortSignal.timeout(patienceMs) }).catch(() => undefined);
  try {
    assertAccepted(faultOf(redis));
    return redis;
  } catch (error) {
    redis.disconnect();
    throw error;
  }
}

/** How long to wait before the next attempt to connect, in milliseconds. */
function backOff(attempt: number): number {
  return Math.min(attempt * 100, 1000);
}

/**
 * A client that fails rather than waits, and reconnects for good. ioredis 5.11.1's `socketTimeout` stays unset: its
 * timer outlives its connection and closes the next one.
 */
function optionsFor(address: RedisAddress, name: string): RedisOptions {
  const { tls, username, password, db } = address;
  return {
    ...(address.form === 'sentinel' ? sentinelOptions(address) : address.hosts[0]),
    username,
    password,
    db,
    tls: tls && { ...tls },
    connectTimeout: CONNECT_MS,
    disconnectTimeout: 500,
    connectionName: name,
    disableClientInfo: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    // Nobody would handle its failure, which would end the process. Subscribers resubscribe themselves.
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    keepAlive: 10_000,
    retryStrategy: backOff,
    // A master that has become a replica: the next connection is to the one that has taken its place.
    reconnectOnError: ({ message }) => message.includes('READONLY'),
  };
}

/** How the Sentinels are asked, and the server that they name. */
function sentinelOptions({ hosts, master, tls, sentinelUsername, sentinelPassword }: RedisAddress): RedisOptions {
  return {
    sentinels: hosts.map((host) => ({ ...host })),
    name: master,
    sentinelUsername,
    sentinelPassword,
    sentinelTLS: tls && { ...tls },
    enableTLSForSentinelMode: tls !== undefined,
    sentinelCommandTimeout: 1000,
    sentinelRetryStrategy: backOff,
  };
}

/** A client of a cluster. It sends each command to the node that has the slot of its key. */
function clusterClient({ hosts }: RedisAddress, { db: _, ...redisOptions }: RedisOptions): Cluster {
  const cluster = new PromptCluster(
    hosts.map((host) => ({ ...host })),
    {
      redisOptions,
      clusterRetryStrategy: backOff,
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
      slotsRefreshInterval: SLOTS_REFRESH_MS,
      // Certificates are for names: the address is looked up when the connection is made.
      dnsLookup: (host, callback) => callback(null, host),
    },
  );
  // ioredis connects to a master with the first command for it, which the limiter's timeout does not allow for.
  cluster.on('refresh', () => {
    for (const master of cluster.nodes('master')) if (master.status === 'wait') master.connect().catch(() => undefined);
  });
  return cluster;
}

/** Commands wait for a node whose connection is being made, but not for the cluster. */
class PromptCluster extends Cluster {
  override sendCommand(...[command, stream, node]: Parameters<Cluster['sendCommand']>): unknown {
    if (this.status === 'ready' || command.name === 'cluster') return super.sendCommand(command, stream, node);
    command.reject(new Error('the cluster cannot be reached'));
    return command.promise;
  }
}
