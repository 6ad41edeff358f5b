import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { parseRedisAddress, type RedisAddress } from './redis-address';
import { assertAccepted, withTlsHint } from './rejections';

/** A client of a single server or of a cluster. A single server may be discovered through Sentinels. */
export type RedisClient = Redis | Cluster;

/** Time limit for connecting, in milliseconds. */
const CONNECT_MS = 2000;
/** How often a cluster's slots are refreshed, in milliseconds. A `MOVED` reply also refreshes them. */
const SLOTS_REFRESH_MS = 5000;

/**
 * Connects a client for the rate limiter. A command that cannot be sent fails at once, so that the limiter counts in memory
 * instead. If the connection breaks, commands in flight are not resent, since the limiter has counted them in memory. The
 * client reconnects forever, to the current master of the Sentinels or the current nodes of the cluster.
 * @param patienceMs how long to wait for the first connection. The client is returned even without a connection.
 * @throws Error that names the setting if Redis or TLS rejects this client.
 */
export async function connectRedis(url: string, patienceMs = 2000): Promise<RedisClient> {
  const address = parseRedisAddress(url);
  const options = optionsFor(address, 'rate-limit');
  const redis = address.form === 'cluster' ? clusterClient(address, options) : new Redis(options);
  return connected(redis, address, patienceMs);
}

/**
 * Connects a client for publishing and subscribing. For a cluster, it connects to a node in the URL, and after a disconnect
 * to the next node in the URL. One node is enough, since a cluster broadcasts messages to all nodes.
 */
export async function connectForEvents(url: string, patienceMs = 2000): Promise<Redis> {
  const address = parseRedisAddress(url);
  const options = optionsFor(address, 'events');
  if (address.form !== 'cluster') return connected(new Redis(options), address, patienceMs);
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
  return connected(redis, address, patienceMs);
}

const faults = new WeakMap<RedisClient, Error>();

/** The reason why a client is disconnected; `undefined` while it is connected. */
export function faultOf(redis: RedisClient): Error | undefined {
  return faults.get(redis);
}

/**
 * The Redis key of a caller. In a cluster, a hash tag puts all keys of a caller into one slot, so that they move and fail
 * together.
 * @param prefix the kind of key: `ratelimit:`.
 */
export function callerKey({ isCluster }: RedisClient, prefix: string, id: string): string {
  return isCluster ? `${prefix}{${id}}` : prefix + id;
}

/** Buffers commands until `uncork` sends them in one write per server. A write costs more than preparing a command. */
export function cork(redis: RedisClient): void {
  if (redis instanceof Redis) redis.stream?.cork();
  else for (const { stream } of redis.nodes('master')) stream?.cork();
}

/** Sends the buffered commands. */
export function uncork(redis: RedisClient): void {
  if (redis instanceof Redis) redis.stream?.uncork();
  else for (const { stream } of redis.nodes('master')) stream?.uncork();
}

/** Resolves once the client is connected or `patienceMs` have passed. */
async function connected<Client extends RedisClient>(
  redis: Client,
  { tls }: RedisAddress,
  patienceMs: number,
): Promise<Client> {
  // Records why the client is disconnected, since the errors of commands do not give the reason.
  redis.on('error', (error) => faults.set(redis, error.lastNodeError ?? error));
  redis.on('ready', () => faults.delete(redis));
  redis.on('close', () => faults.has(redis) || faults.set(redis, new Error('the connection was closed')));
  // A busy process may run an overdue timer before it reads why the connection failed. `nextTurn` gives it time to read.
  await once(redis, 'ready', { signal: AbortSignal.timeout(patienceMs) }).catch(() => nextTurn());
  try {
    assertAccepted(faultOf(redis));
    const fault = redis.status === 'ready' ? undefined : withTlsHint(faultOf(redis), tls !== undefined);
    if (fault) faults.set(redis, fault);
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
 * Options of a client that fails fast and reconnects forever. `socketTimeout` of ioredis 5.11.1 is not used: its timer
 * outlives its connection and closes the next connection.
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
    // A failed automatic resubscription would be an unhandled rejection, which ends the process. The event relay
    // resubscribes by itself.
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    keepAlive: 10_000,
    retryStrategy: backOff,
    // `READONLY` means that the master has become a replica. The client then reconnects to the new master.
    reconnectOnError: ({ message }) => message.includes('READONLY'),
  };
}

/** Options for the Sentinels, and for the master that they name. */
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
      // Keeps the host name, since TLS checks the certificate against the name. The name is resolved when the client
      // connects.
      dnsLookup: (host, callback) => callback(null, host),
    },
  );
  // Connects to all masters in advance. ioredis would connect to a master only at its first command, which could then exceed
  // the limiter's timeout.
  cluster.on('refresh', () => {
    for (const master of cluster.nodes('master')) if (master.status === 'wait') master.connect().catch(() => undefined);
  });
  return cluster;
}

/** Commands wait for a node that is connecting, but fail at once while the whole cluster is disconnected. */
class PromptCluster extends Cluster {
  override sendCommand(...[command, stream, node]: Parameters<Cluster['sendCommand']>): unknown {
    if (this.status === 'ready' || command.name === 'cluster') return super.sendCommand(command, stream, node);
    command.reject(new Error('the cluster cannot be reached'));
    return command.promise;
  }
}
