import type { FastifyBaseLogger } from 'fastify';
import type { Change } from '../database/changes';
import type { Database } from '../database/database';
import { Hub } from '../events/hub';
import { RedisRelay } from '../events/redis-relay';
import type { Services } from '../petstore/services';
import { connectToPublish } from '../redis/publishing-client';
import type { Config } from './config';
import { refuse } from './open-redis';

export interface Events {
  readonly hub: Hub;
  /** `undefined` without Redis. */
  readonly relay: RedisRelay | undefined;
  close(): void;
}

/** Delivers committed changes to subscribers, here and in all instances that share a Redis. */
export async function createEvents(
  config: Config,
  database: Database,
  { pets, orders, inventory }: Services,
  logger: FastifyBaseLogger,
): Promise<Events> {
  const hub = new Hub({
    pet: (ids) => pets.find(database, ids),
    order: (ids) => orders.find(database, ids),
    inventory: (ids) => inventory.find(database, ids),
  });
  const relay = config.REDIS_URL ? await createRelay(config.REDIS_URL, hub, logger) : undefined;
  const deliver = (change: Change) => {
    hub.notify(change);
    relay?.publish(change);
  };
  database.listeners.add(deliver);
  return {
    hub,
    relay,
    close: () => {
      database.listeners.delete(deliver);
      relay?.close();
    },
  };
}

async function createRelay(url: string, hub: Hub, logger: FastifyBaseLogger): Promise<RedisRelay> {
  const [publisher, subscriber] = await Promise.all([connectToPublish(url), connectToPublish(url)]);
  const relay = new RedisRelay(publisher, subscriber, {
    notify: hub.notify,
    isHeard: () => hub.subscribers > 0,
    onState: (state) => logger.warn({ events: state }, 'event relay state changed'),
  });
  await relay.start().catch(refuse);
  return relay;
}
