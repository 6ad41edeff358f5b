import type { FastifyInstance } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import type { OpenAPIV3 } from 'openapi-types';
import { answerOtherMethods } from '../../rest/other-methods';
import { etagOf } from '../../rest/responses/entity-tag';
import { type Asset, type Assets, assetOf } from '../assets';
import { OWN, pageHeaders } from '../page';
import { sendAsset } from '../send-asset';
import { filled, guideParts, overviewParts } from './guide-page';
import { openLibrary } from './library';
import { searchIndex } from './search-index';

export interface GuideOptions {
  readonly assets: Assets;
  readonly document: OpenAPIV3.Document;
  readonly schema: GraphQLSchema;
}

const HTML = 'text/html; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';
/** The guides at `/docs`, and what their search reads. Each page is rendered once, when somebody first asks for it. */
export async function guideRoutes(app: FastifyInstance, { assets, document, schema }: GuideOptions): Promise<void> {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, operation: 'docs' };
  });
  const headers = pageHeaders(OWN);
  const library = openLibrary(assets);
  const template = assets.page('guide.html');

  const get = (url: string, type: string, make: () => string) => {
    let made: Asset | undefined;
    app.route({
      method: ['GET', 'HEAD'],
      url,
      handler: (request, reply) => {
        made ??= fresh(type, make());
        return sendAsset(request, reply.headers(headers), made, 'no-cache');
      },
    });
    answerOtherMethods(app, url, ['GET', 'HEAD']);
  };
  for (const url of ['/docs', '/docs/']) get(url, HTML, () => filled(template, overviewParts(library)));
  for (const guide of library.guides) get(guide.href, HTML, () => filled(template, guideParts(library, guide)));
  get('/docs/search.json', JSON_TYPE, () => JSON.stringify(searchIndex(library, document, schema)));
}

/** A page that is revalidated each time. */
function fresh(type: string, text: string): Asset {
  return { ...assetOf(type, text), etag: etagOf(text) };
}
