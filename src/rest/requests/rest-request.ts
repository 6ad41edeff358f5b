import type { FastifyRequest } from 'fastify';

/** A request whose path and query string are parsed. A repeated parameter is an array. */
export type RestRequest = FastifyRequest<{
  Params: Record<string, string>;
  Querystring: Record<string, string | string[]>;
}>;
