import type { FastifyInstance, FastifyReply } from 'fastify';

export interface Page {
  send(reply: FastifyReply): Promise<FastifyReply>;
}

/** The web pages. */
export interface Portal {
  /** The page for browsers at `/graphql`. */
  readonly sandbox: Page;
  /** The page for browsers at unknown paths. */
  readonly missing: Page;
  /** Registers the routes of all other pages. */
  routes(app: FastifyInstance): Promise<void>;
}
