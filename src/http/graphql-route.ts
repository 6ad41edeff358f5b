import type { ApolloServer } from '@apollo/server';
import { fastifyApolloHandler } from '@as-integrations/fastify';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Context } from '../graphql/context';

export const GRAPHQL_PATH = '/graphql';

/** `POST /graphql`, and `GET /graphql` for queries and for browsers. */
export async function graphqlRoute(
  app: FastifyInstance,
  options: { apollo: ApolloServer<Context>; contextOf(request: FastifyRequest): Context },
): Promise<void> {
  const { apollo, contextOf } = options;
  app.route({
    method: ['GET', 'POST'],
    url: GRAPHQL_PATH,
    handler: fastifyApolloHandler(apollo, { context: async (request) => contextOf(request) }),
  });
}
