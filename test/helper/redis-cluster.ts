import { Redis } from 'ioredis';
import { freePort } from './free-port';
import { RedisServer } from './redis-server';
import { until } from './until';

const SLOTS = 16_384;
const MASTERS = 3;

/** A cluster of three masters with a third of the slots each, and a replica for each of them. */
export class RedisCluster {
  private constructor(readonly nodes: readonly RedisServer[]) {}

  static async start(binary: string): Promise<RedisCluster> {
    const busPorts = await Promise.all(Array.from({ length: 2 * MASTERS }, freePort));
    const nodes = await Promise.all(
      busPorts.map((port) => {
        const bus = ['--cluster-node-timeout', '1500', '--cluster-port', String(port)];
        return RedisServer.start(binary, ['--cluster-enabled', 'yes', ...bus]);
      }),
    );
    const cluster = new RedisCluster(nodes);
    await cluster.join(busPorts);
    return cluster;
  }

  /** `redis+cluster://…`, with the first two of its nodes. */
  url(credentials: string): string {
    const some = this.nodes.slice(0, 2).map(({ host }) => host);
    return `redis+cluster://${credentials}${some.join(',')}`;
  }

  /** The node that a key is on. */
  async nodeOf(key: string, role: 'master' | 'replica' = 'master'): Promise<RedisServer> {
    const asked = await this.living();
    const slot = Number(await this.ask(asked, 'CLUSTER', 'KEYSLOT', key));
    const ranges = (await this.ask(asked, 'CLUSTER', 'SLOTS')) as [number, number, ...[string, number][]][];
    const [, , master, replica] = ranges.find(([first, last]) => first <= slot && slot <= last) ?? [];
    const [, port] = (role === 'master' ? master : replica) ?? [];
    return this.nodes.find((node) => node.port === port) as RedisServer;
  }

  private async isOk(node: RedisServer): Promise<boolean> {
    const info = String(await this.ask(node, 'CLUSTER', 'INFO'));
    return /cluster_state:ok/.test(info) && /cluster_slots_ok:16384/.test(info) && /known_nodes:6/.test(info);
  }

  private async ask(node: RedisServer, command: string, ...args: string[]): Promise<unknown> {
    const redis = new Redis(node.url, { retryStrategy: null, commandTimeout: 1000 });
    redis.on('error', () => undefined);
    try {
      return await redis.call(command, ...args);
    } finally {
      redis.disconnect();
    }
  }

  async remove(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.remove()));
  }

  private async living(): Promise<RedisServer> {
    for (const node of this.nodes) if (await this.isOk(node).catch(() => false)) return node;
    throw new Error('the cluster is down');
  }

  private async join(busPorts: readonly number[]): Promise<void> {
    const [first] = this.nodes as [RedisServer];
    for (const [i, node] of this.nodes.entries()) {
      if (i) await this.ask(first, 'CLUSTER', 'MEET', '127.0.0.1', String(node.port), String(busPorts[i]));
      if (i >= MASTERS) continue;
      const bounds = [i, i + 1].map((nth) => Math.floor((nth * SLOTS) / MASTERS));
      await this.ask(node, 'CLUSTER', 'ADDSLOTSRANGE', String(bounds[0]), String(Number(bounds[1]) - 1));
    }
    for (const node of this.nodes) await until(() => this.isOk(node), 30);
    for (const [i, node] of this.nodes.slice(MASTERS).entries()) {
      const id = String(await this.ask(this.nodes[i] as RedisServer, 'CLUSTER', 'MYID'));
      await this.ask(node, 'CLUSTER', 'REPLICATE', id);
    }
    for (const node of this.nodes)
      await until(async () => {
        const ranges = (await this.ask(node, 'CLUSTER', 'SLOTS')) as unknown[][];
        return ranges.length === MASTERS && ranges.every((range) => range.length === 4);
      }, 30);
    for (const node of this.nodes.slice(MASTERS)) await until(() => node.follows(), 30);
  }
}
