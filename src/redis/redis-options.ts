import type { RedisOptions } from 'ioredis';
import type { RedisAddress } from './redis-address';

/** How long a connection may take to be made, in milliseconds. */
const CONNECT_MS = 2000;

/** What every connection to the address has in common, whether it is to a server, a Sentinel or a node. */
function connectionOptions({ tls, username, password, db }: RedisAddress): RedisOptions {
  return { tls: tls && { ...tls }, username, password, db, connectTimeout: CONNECT_MS, disconnectTimeout: 500 };
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

/** How long to wait before the next attempt to connect, in milliseconds. */
export function backOff(attempt: number): number {
  return Math.min(attempt * 100, 1000);
}

/**
 * A client that fails rather than waits, and reconnects for good. ioredis 5.11.1's `socketTimeout` stays unset: its
 * timer outlives its connection and closes the next one.
 */
export function clientOptions(address: RedisAddress, name: string): RedisOptions {
  return {
    ...connectionOptions(address),
    ...(address.form === 'sentinel' ? sentinelOptions(address) : address.hosts[0]),
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
