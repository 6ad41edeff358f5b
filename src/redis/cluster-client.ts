import { Cluster, type ClusterOptions } from 'ioredis';
import type { RedisAddress } from './redis-address';
import { backOff, clientOptions } from './redis-options';

/** How often the nodes of a cluster are asked which slots they have, besides whenever one of them says so. */
const SLOTS_REFRESH_MS = 5000;

/** A client of a cluster. It sends each command to the node that has the slot of its key. */
export function clusterClient(address: RedisAddress, name: string): Cluster {
  const { sentinels: _, db: __, ...redisOptions } = clientOptions(address, name);
  const options: ClusterOptions = {
    redisOptions,
    clusterRetryStrategy: backOff,
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    slotsRefreshInterval: SLOTS_REFRESH_MS,
    // Certificates are for names: the address is looked up when the connection is made.
    dnsLookup: (host, callback) => callback(null, host),
  };
  return new PromptCluster(
    address.hosts.map((host) => ({ ...host })),
    options,
  );
}

/** Commands wait for a node whose connection is being made, but not for the cluster. */
class PromptCluster extends Cluster {
  override sendCommand(...[command, stream, node]: Parameters<Cluster['sendCommand']>): unknown {
    if (this.status === 'ready' || command.name === 'cluster') return super.sendCommand(command, stream, node);
    command.reject(new Error('the cluster cannot be reached'));
    return command.promise;
  }
}
