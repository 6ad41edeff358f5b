import { Redis } from 'ioredis';
import { parseRedisAddress } from './redis-address';
import { connected } from './redis-client';
import { backOff, clientOptions } from './redis-options';

/**
 * A client as `connectRedis` makes them, for publishing and subscribing. In a cluster that is a connection to any one
 * node, since a cluster passes every message on to all of its nodes; the next connection is to another.
 */
export async function connectToPublish(url: string, patienceMs = 2000): Promise<Redis> {
  const address = parseRedisAddress(url);
  const options = clientOptions(address, 'events');
  if (address.form !== 'cluster') return connected(new Redis(options), patienceMs);
  let hosts = address.hosts;
  const first = Math.floor(Math.random() * hosts.length);
  const redis: Redis = new Redis({
    ...options,
    ...hosts[first],
    retryStrategy: (attempt) => {
      Object.assign(redis.options, hosts[(first + attempt) % hosts.length]);
      return backOff(attempt);
    },
  });
  const learn = (slots: unknown) => {
    const known = nodesOf(slots);
    if (known.length) hosts = known;
  };
  redis.on('ready', () => void redis.cluster('SLOTS').then(learn, () => undefined));
  return connected(redis, patienceMs);
}

/** The nodes in a reply to CLUSTER SLOTS: first, last, then of each node its host, port and id. */
function nodesOf(slots: unknown): { host: string; port: number }[] {
  const ranges = slots as [number, number, ...[host: string, port: number, ...unknown[]][]][];
  const nodes = ranges.flatMap(([, , ...each]) => each.map(([host, port]) => ({ host, port })));
  const known = nodes.filter(({ host }) => host);
  return [...new Map(known.map((node) => [`${node.host} ${node.port}`, node])).values()];
}
