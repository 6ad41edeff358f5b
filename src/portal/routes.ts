import type { FastifyInstance } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import type { OpenAPIV3 } from 'openapi-types';
import { readRoute } from '../http/other-methods';
import { JSON_TYPE } from '../rest/representation';
import type { Assets } from './assets';
import { readContents } from './contents';
import { contractRoutes } from './contract-routes';
import { filled, guideParts, missingParts, overviewParts } from './guide-page';
import { openLibrary } from './library';
import { GRAPHIQL, Page } from './page';
import { errorReference } from './reference/error-reference';
import { graphqlReference } from './reference/graphql-reference';
import { referenceTemplate } from './reference/reference-page';
import { restReference } from './reference/rest-reference';
import { searchIndex } from './search-index';
import { sendAsset } from './send-asset';

export interface PagesOptions {
  readonly assets: Assets;
  /** What `/openapi.json` is, and `/docs/rest` shows. */
  readonly document: OpenAPIV3.Document;
  /** What `/schema.graphql` is, and `/docs/graphql` shows. */
  readonly schema: GraphQLSchema;
}

/** A year: the content of these paths never changes. */
const FOR_GOOD = 'public, max-age=31536000, immutable';
const A_DAY = 'public, max-age=86400';

/** All pages by their paths, and what the search of the guides reads. */
function pagesOf({ assets, document, schema }: PagesOptions): Readonly<Record<string, Page>> {
  const library = openLibrary(assets);
  const template = assets.page('guide.html');
  const reference = referenceTemplate(assets);
  const admin = new Page(() => assets.page('admin.html'));
  const graphiql = new Page(() => assets.page('graphiql.html'), { policy: GRAPHIQL });
  const overview = new Page(() => filled(template, overviewParts(library)));
  const guides = library.guides.map(
    (guide) => [guide.href, new Page(() => filled(template, guideParts(library, guide)))] as const,
  );
  return {
    '/': new Page(() => assets.page('start.html')),
    '/admin': admin,
    '/admin/': admin,
    '/graphiql': graphiql,
    '/graphiql/': graphiql,
    '/docs': overview,
    '/docs/': overview,
    ...Object.fromEntries(guides),
    '/docs/rest': new Page(() => restReference(reference, document)),
    '/docs/graphql': new Page(() => graphqlReference(reference, schema)),
    '/docs/errors': new Page(() => errorReference(reference)),
    '/docs/search.json': new Page(() => JSON.stringify(searchIndex(library, document, schema)), { type: JSON_TYPE }),
  };
}

/** The page for addresses that have none. */
export function missingPage(assets: Assets): Page {
  return new Page(() => filled(assets.page('guide.html'), missingParts({ groups: readContents() })), { status: 404 });
}

/** What describes both interfaces, the pages, and what they load. They cost no quota, and accept wrong keys. */
export async function pageRoutes(app: FastifyInstance, options: PagesOptions): Promise<void> {
  contractRoutes(app, options.document, options.schema);
  app.addHook('onRoute', (route) => {
    const operation = route.url.startsWith('/docs') ? 'docs' : 'pages';
    route.config = { ...route.config, metering: 'free', operation };
  });
  for (const [url, page] of Object.entries(pagesOf(options)))
    readRoute(app, url, { handler: (_request, reply) => page.send(reply) });
  const { assets } = options;
  // Browsers and Sandbox request these paths whatever a page says.
  for (const url of ['/favicon.svg', '/favicon.ico'])
    readRoute(app, url, { handler: (_request, reply) => sendAsset(reply, assets.find('favicon.svg'), A_DAY) });
  readRoute(app, `${assets.path}/*`, {
    handler: (request, reply) => {
      const { '*': name = '' } = request.params as Record<string, string>;
      return sendAsset(reply, assets.find(name), FOR_GOOD);
    },
  });
}
