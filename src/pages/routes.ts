import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import type { OpenAPIV3 } from 'openapi-types';
import { answerOtherMethods } from '../rest/other-methods';
import { guideRoutes } from './guides/guide-routes';
import { type Pages, sendPage } from './page';
import { referenceRoutes } from './reference/reference-routes';
import { sendAsset } from './send-asset';

export interface PageOptions {
  readonly pages: Pages;
  /** What `/docs/rest` shows. */
  readonly document: OpenAPIV3.Document;
  /** What `/docs/graphql` shows. */
  readonly schema: GraphQLSchema;
}

/** A year: the content of these paths never changes. */
const FOR_GOOD = 'public, max-age=31536000, immutable';
const A_DAY = 'public, max-age=86400';

/** The start page, GraphiQL, the documentation, and what they load. They cost no quota, and accept wrong keys. */
export async function pageRoutes(app: FastifyInstance, { pages, document, schema }: PageOptions): Promise<void> {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, metering: 'free', operation: 'pages' };
  });
  const { assets, start, graphiql } = pages;
  const logo = assets.get('favicon.svg');
  const get = (url: string, handler: (request: FastifyRequest, reply: FastifyReply) => unknown) => {
    app.route({ method: ['GET', 'HEAD'], url, handler });
    answerOtherMethods(app, url, ['GET', 'HEAD']);
  };

  get('/', (_request, reply) => sendPage(reply, start));
  get('/graphiql', (_request, reply) => sendPage(reply, graphiql));
  // Browsers and Sandbox request these paths whatever a page says.
  for (const url of ['/favicon.svg', '/favicon.ico']) {
    get(url, (request, reply) => sendAsset(request, reply, logo, A_DAY));
  }
  get(`${assets.path}/*`, (request, reply) => {
    const { '*': name = '' } = request.params as Record<string, string>;
    return sendAsset(request, reply, assets.find(name), FOR_GOOD);
  });
  await app.register(guideRoutes, { assets, document, schema });
  await app.register(referenceRoutes, { assets, document, schema });
}
