import type { FastifyInstance, FastifyReply } from 'fastify';

/** A page that can be sent. */
export interface Page {
  send(reply: FastifyReply): Promise<FastifyReply>;
}

/** The pages for people, as the server needs them. */
export interface Portal {
  /** What browsers get at `/graphql`. */
  readonly sandbox: Page;
  /** What browsers get for an unknown page of the documentation. */
  readonly missing: Page;
  /** Registers the routes of all other pages. */
  routes(app: FastifyInstance): Promise<void>;
}
