import type { FastifyInstance } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import type { OpenAPIV3 } from 'openapi-types';
import { answerOtherMethods } from '../../rest/other-methods';
import { type Assets, assetOf } from '../assets';
import { OWN, pageHeaders } from '../page';
import { sendAsset } from '../send-asset';
import { errorReference } from './error-reference';
import { graphqlReference } from './graphql/graphql-reference';
import { referenceTemplate } from './reference-page';
import { restReference } from './rest/rest-reference';

export interface ReferenceOptions {
  readonly assets: Assets;
  /** What `/docs/rest` shows. */
  readonly document: OpenAPIV3.Document;
  /** What `/docs/graphql` shows. */
  readonly schema: GraphQLSchema;
}

const HTML = 'text/html; charset=utf-8';

/** The references, rendered once, at start. */
export async function referenceRoutes(app: FastifyInstance, options: ReferenceOptions): Promise<void> {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, operation: 'docs' };
  });
  const { assets, document, schema } = options;
  const headers = pageHeaders(OWN);
  const template = referenceTemplate(assets);
  const pages = {
    '/docs/rest': restReference(template, document),
    '/docs/graphql': graphqlReference(template, schema),
    '/docs/errors': errorReference(template),
  };
  for (const [url, html] of Object.entries(pages)) {
    const page = assetOf(HTML, Buffer.from(html));
    app.route({
      method: ['GET', 'HEAD'],
      url,
      // Browsers revalidate it each time, so that it links to the current assets.
      handler: (request, reply) => sendAsset(request, reply.headers(headers), page, 'no-cache'),
    });
    answerOtherMethods(app, url, ['GET', 'HEAD']);
  }
}
