import type { Change } from '../../src/database/database';
import { RedisRelay } from '../../src/events/redis-relay';
import { Limiter } from '../../src/rate-limit/limiter';
import { PLANS } from '../../src/rate-limit/plans';
import { RedisStore } from '../../src/rate-limit/redis-store';
import { connectForEvents, connectRedis } from '../../src/redis/redis-client';
import { BANS } from '../rate-limit/scenarios';

/** The limiter and the event relay of a gateway. */
export class Instance {
  /** The changes received from other instances. */
  readonly heard: Change[] = [];

  private constructor(
    readonly limiter: Limiter,
    readonly relay: RedisRelay,
  ) {}

  static async start(url: string): Promise<Instance> {
    const redis = new RedisStore(await connectRedis(url, 10_000), { bans: BANS, now: Date.now });
    const limiter = new Limiter({ bans: BANS, now: Date.now, redis });
    await limiter.start();
    const clients = [await connectForEvents(url, 10_000), await connectForEvents(url, 10_000)];
    const [publisher, subscriber] = clients as [(typeof clients)[number], (typeof clients)[number]];
    const notify = (change: Change) => void instance.heard.push(change);
    const relay = new RedisRelay(publisher, subscriber, {
      topics: {},
      notify,
      hasSubscribers: () => true,
      onMessage: () => undefined,
      onState: () => undefined,
    });
    const instance = new Instance(limiter, relay);
    await relay.start();
    return instance;
  }

  /** Counts a request of a caller on the plan Free. @returns whether it is allowed, and the requests left this minute. */
  async take(id: string): Promise<{ isAllowed: boolean; left: number }> {
    const { verdict, windows } = await this.limiter.take({ id, quota: PLANS.FREE }, 1, 'counted');
    return { isAllowed: verdict === 'allowed', left: windows[0].remaining };
  }

  async close(): Promise<void> {
    this.relay.close();
    await this.limiter.close();
  }
}

/** Sends `count` requests of a caller at once, through all instances in turn. @returns how many were allowed. */
export async function allowed(instances: readonly Instance[], id: string, count: number): Promise<number> {
  const taken = Array.from({ length: count }, (_, i) => (instances[i % instances.length] as Instance).take(id));
  return (await Promise.all(taken)).filter(({ isAllowed }) => isAllowed).length;
}
