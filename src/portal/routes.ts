import type { FastifyInstance } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import type { OpenAPIV3 } from 'openapi-types';
import type { Catalogue } from '../errors/codes';
import { readRoute } from '../http/other-methods';
import type { Portal } from '../http/portal';
import { JSON_TYPE } from '../rest/representation';
import { Assets } from './assets';
import { readContents } from './contents';
import { contractRoutes } from './contract-routes';
import { filled, guideParts, missingParts, overviewParts } from './guide-page';
import { openLibrary } from './library';
import { GRAPHIQL, Page, SANDBOX } from './page';
import { errorReference } from './reference/error-reference';
import { graphqlReference } from './reference/graphql-reference';
import { referenceTemplate } from './reference/reference-page';
import { restReference } from './reference/rest-reference';
import { searchIndex } from './search-index';
import { sendAsset } from './send-asset';

/** What the pages describe. */
export interface PortalOptions {
  /** What `/openapi.json` is, and `/docs/rest` shows. */
  readonly document: OpenAPIV3.Document;
  /** What `/schema.graphql` is, and `/docs/graphql` shows. */
  readonly schema: GraphQLSchema;
  /** What `/docs/errors` shows. */
  readonly errors: Catalogue;
}

/** A year: the content of these paths never changes. */
const FOR_GOOD = 'public, max-age=31536000, immutable';
const A_DAY = 'public, max-age=86400';

/** All pages by their paths, and what the search of the guides reads. */
function pagesOf(assets: Assets, { document, schema, errors }: PortalOptions): Readonly<Record<string, Page>> {
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
    '/docs/rest': new Page(() => restReference(reference, document, errors)),
    '/docs/graphql': new Page(() => graphqlReference(reference, schema, errors)),
    '/docs/errors': new Page(() => errorReference(reference, errors)),
    '/docs/search.json': new Page(() => JSON.stringify(searchIndex(library, document, schema, errors)), {
      type: JSON_TYPE,
    }),
  };
}

/** The pages for people, and what describes both interfaces. They cost no quota, and accept wrong keys. */
export function createPortal(options: PortalOptions): Portal {
  const assets = new Assets();
  return {
    sandbox: new Page(() => assets.page('sandbox.html'), { policy: SANDBOX }),
    missing: new Page(() => filled(assets.page('guide.html'), missingParts({ groups: readContents() })), {
      status: 404,
    }),
    routes: async (app) => registerPages(app, assets, options),
  };
}

function registerPages(app: FastifyInstance, assets: Assets, options: PortalOptions): void {
  contractRoutes(app, options.document, options.schema);
  app.addHook('onRoute', (route) => {
    const operation = route.url.startsWith('/docs') ? 'docs' : 'pages';
    route.config = { ...route.config, metering: 'free', operation };
  });
  for (const [url, page] of Object.entries(pagesOf(assets, options)))
    readRoute(app, url, { handler: (_request, reply) => page.send(reply) });
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
