import type { FastifyInstance } from 'fastify';
import type { Config } from './config';
import type { Database } from './database/database';
import { CategoryService } from './domain/category-service';
import { InventoryService } from './domain/inventory-service';
import { OrderService } from './domain/order-service';
import { PetService } from './domain/pet-service';
import { Executor } from './graphql/executor';
import { buildSchema } from './graphql/schema';
import { createServer } from './http/server';

/** The whole application over an open database: services, schema, server. It is not listening yet. */
export async function createApp(config: Config, database: Database): Promise<FastifyInstance> {
  const schema = buildSchema({
    categories: new CategoryService(),
    pets: new PetService(),
    orders: new OrderService(),
    inventory: new InventoryService(),
  });
  return createServer({
    database,
    executor: new Executor(schema),
    logLevel: config.LOG_LEVEL,
    corsOrigins: config.CORS_ORIGINS,
  });
}
