import { Redis } from 'ioredis';
import { RedisServer } from './redis-server';
import { until } from './until';

const NAME = 'petstore';

/** A master, its replica, and three Sentinels that watch them: the smallest installation that survives a failure. */
export class RedisSentinels {
  private constructor(
    /** The master, and its replica. */
    readonly servers: readonly RedisServer[],
    readonly sentinels: readonly RedisServer[],
  ) {}

  static async start(binary: string): Promise<RedisSentinels> {
    const master = await RedisServer.start(binary);
    const replica = await RedisServer.start(binary, ['--replicaof', `127.0.0.1 ${master.port}`]);
    const configuration = [
      `sentinel monitor ${NAME} 127.0.0.1 ${master.port} 2`,
      `sentinel down-after-milliseconds ${NAME} 1000`,
      `sentinel failover-timeout ${NAME} 5000`,
    ];
    const sentinels = await Promise.all([1, 2, 3].map(() => RedisServer.startSentinel(binary, configuration)));
    const all = new RedisSentinels([master, replica], sentinels);
    await until(() => replica.follows(), 30);
    // They find each other, and the replica, through the master.
    for (const sentinel of sentinels) {
      await until(async () => (await all.ask(sentinel, 'SENTINELS')).length === 2, 30);
      await until(async () => (await all.ask(sentinel, 'REPLICAS')).length === 1, 30);
    }
    return all;
  }

  /** `redis+sentinel://…/petstore` */
  url(credentials: string): string {
    return `redis+sentinel://${credentials}${this.sentinels.map(({ host }) => host).join(',')}/${NAME}`;
  }

  async remove(): Promise<void> {
    await Promise.all([...this.sentinels, ...this.servers].map((each) => each.remove()));
  }

  private async ask(sentinel: RedisServer, question: string): Promise<unknown[]> {
    const redis = new Redis(sentinel.url);
    try {
      return (await redis.call('SENTINEL', question, NAME)) as unknown[];
    } finally {
      redis.disconnect();
    }
  }
}
