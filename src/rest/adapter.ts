import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Context } from '../graphql/context';
import type { Executor } from '../graphql/executor';

export async function restAdapter(
  _app: FastifyInstance,
  _options: { executor: Executor; contextOf(request: FastifyRequest): Context },
): Promise<void> {}
