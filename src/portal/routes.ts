import type { FastifyInstance } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import type { OpenAPIV3 } from 'openapi-types';
import { readRoute } from '../http/allowed-methods';
import type { Portal } from '../http/portal';
import { JSON_UTF8 } from '../rest/media-types';
import { Assets } from './assets';
import { contractRoutes } from './contract-routes';
import { guidePage, missingPage, overviewPage } from './guide-pages';
import { type Group, guidesOf, type Place, placesInGuides, REST_REFERENCE, readGroups, SYNONYMS } from './guides';
import { Page } from './page';
import { CONTENTS, SANDBOX_CONTENT } from './page-contents';
import { placesInRest } from './rest-places';
import { sendAsset } from './send-asset';
import { type PageContent, renderPage } from './templates';

/** The documents that describe the REST and GraphQL interfaces. */
interface PortalOptions {
  /** Served at `/openapi.json`, and shown at `/docs/rest`. */
  readonly document: OpenAPIV3.Document;
  /** Served at `/schema.graphql`. */
  readonly schema: GraphQLSchema;
}

/** Lets browsers cache a file for a year without revalidation. Used for paths whose content never changes. */
const FOR_GOOD = 'public, max-age=31536000, immutable';
const A_DAY = 'public, max-age=86400';

function searchIndex(groups: readonly Group[], document: OpenAPIV3.Document): Place[] {
  const { title, href, summary } = REST_REFERENCE;
  const reference: Place = { kind: 'REST', title, within: '', text: summary, href };
  const places = [reference, ...placesInGuides(guidesOf(groups)), ...placesInRest(document)];
  return places.map((place) => ({ ...place, text: place.text.replaceAll('`', ''), also: alsoFor(place) }));
}

/** Words that find an entry first: its synonyms, and the names of the settings that a section of the settings describes. */
function alsoFor({ href, text }: Place): string | undefined {
  const settings = href.startsWith('/docs/configuration#') ? (text.match(/\b[A-Z]+(_[A-Z]+)+\b/g) ?? []) : [];
  return [SYNONYMS[href] ?? [], ...settings].flat().join(' ') || undefined;
}

/**
 * Creates the web pages, and the routes for the OpenAPI document and the GraphQL schema. Requests for them use no quota, and
 * are answered even with a wrong key.
 */
export function createPortal({ document, schema }: PortalOptions): Portal {
  const assets = new Assets();
  const groups = readGroups();
  const site = { product: document.info.title, assets: assets.path };
  const pageOf = (content: PageContent) => new Page(() => renderPage(content, site), content);
  const contents = [...CONTENTS, overviewPage(groups), ...guidesOf(groups).map((guide) => guidePage(groups, guide))];
  const pages = new Map(contents.map((content) => [content.path, pageOf(content)]));
  const index = () => JSON.stringify(searchIndex(groups, document));
  pages.set('/docs/search.json', new Page(index, { type: JSON_UTF8 }));
  return {
    sandbox: pageOf(SANDBOX_CONTENT),
    missing: pageOf(missingPage(groups)),
    routes: async (app) => {
      contractRoutes(app, document, schema);
      pageRoutes(app, assets, pages);
    },
  };
}

function pageRoutes(app: FastifyInstance, assets: Assets, pages: ReadonlyMap<string, Page>): void {
  app.addHook('onRoute', (route) => {
    const operation = route.url.startsWith('/docs') ? 'docs' : 'pages';
    route.config = { ...route.config, metering: 'page', logName: operation };
  });
  const redirects = [['/docs/graphql', '/graphiql']];
  for (const [url, page] of pages) {
    readRoute(app, url, { handler: (_request, reply) => page.send(reply) });
    if (url !== '/') redirects.push([`${url}/`, url]);
  }
  for (const [from = '', to = ''] of redirects)
    readRoute(app, from, { handler: (_request, reply) => reply.redirect(to, 301) });
  // Browsers and Sandbox request these fixed paths by default.
  for (const url of ['/favicon.svg', '/favicon.ico'])
    readRoute(app, url, { handler: (_request, reply) => sendAsset(reply, assets.find('favicon.svg'), A_DAY) });
  readRoute(app, `${assets.path}/*`, {
    handler: (request, reply) => {
      const { '*': name = '' } = request.params as Record<string, string>;
      return sendAsset(reply, assets.find(name), FOR_GOOD);
    },
  });
}
