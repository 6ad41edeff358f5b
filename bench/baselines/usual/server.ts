// Express, Apollo Server, type-graphql and Prisma, combined as in their guides: no logger, no keys, no limits.
import 'reflect-metadata';
import http from 'node:http';
import { ApolloServer } from '@apollo/server';
import { ApolloServerPluginDrainHttpServer } from '@apollo/server/plugin/drainHttpServer';
import { expressMiddleware } from '@as-integrations/express5';
import { PrismaPg } from '@prisma/adapter-pg';
import cors from 'cors';
import express from 'express';
import { buildSchema } from 'type-graphql';
import { PrismaClient } from '../../../src/database/generated/client';
import { CategoryResolver } from './category.resolver';
import type { Context } from './context';
import { OrderResolver } from './order.resolver';
import { PetResolver } from './pet.resolver';
import { petRoutes } from './rest';

async function main(): Promise<void> {
  const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: process.env.DATABASE_URL }) });
  const schema = await buildSchema({ resolvers: [PetResolver, CategoryResolver, OrderResolver] });
  const app = express();
  const httpServer = http.createServer(app);
  const apollo = new ApolloServer<Context>({
    schema,
    plugins: [ApolloServerPluginDrainHttpServer({ httpServer })],
  });
  await apollo.start();
  app.use(cors(), express.json());
  app.use('/graphql', expressMiddleware(apollo, { context: async () => ({ prisma }) }));
  app.use('/pets', petRoutes(prisma));
  httpServer.listen(Number(process.env.PORT), process.env.HOST);
}

process.once('SIGTERM', () => process.exit());
void main();
