import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import type { OpenAPIV3 } from 'openapi-types';
import { answerOtherMethods } from '../rest/other-methods';
import { OWN, type Policy, pageHeaders } from './page';

export interface DocsOptions {
  readonly document: OpenAPIV3.Document;
  /** SVG. */
  readonly logo: Buffer;
}

/** Swagger UI uses inline styles, and images embedded in its style sheet. */
const POLICY: Policy = { ...OWN, 'style-src': ["'self'", "'unsafe-inline'"], 'img-src': ["'self'", 'data:'] };

const HTML = 'text/html; charset=utf-8';
const SVG = 'image/svg+xml';

/** Added to Swagger UI's page, so that it fits on a phone and links to the other pages. */
const HEAD = '<meta name="viewport" content="width=device-width, initial-scale=1">';
const HEADER = `
  <header class="top">
    <a class="home" href="/"><img src="/favicon.svg" alt="" width="22" height="22">Petstore Gateway</a>
    <a href="/docs">Guides</a> <a href="/docs/errors">Errors</a> <a href="/schema.graphql">Schema</a> <a href="/graphql">Sandbox</a> <a href="/graphiql">GraphiQL</a>
  </header>`;

const THEME = `
  .top { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem 0.75rem; padding: 0.75rem 1.25rem; background: #0f766e; font: 0.9375rem system-ui, sans-serif; }
  .top a { color: #fff; }
  .top .home { display: flex; align-items: center; gap: 0.25rem; margin-right: auto; font-weight: 600; text-decoration: none; }
`;

/** `/docs/rest`: the REST documentation, where operations can be tried; it loads nothing from other servers. */
export async function docs(app: FastifyInstance, { document, logo }: DocsOptions): Promise<void> {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, operation: 'docs' };
  });
  const headers = pageHeaders(POLICY);
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers);
    done();
  });
  app.addHook('onSend', async (_request, reply, payload) => {
    const isPage = typeof payload === 'string' && reply.getHeader('content-type') === HTML;
    return isPage ? payload.replace('<head>', `$&${HEAD}`).replace('<body>', `$&${HEADER}`) : payload;
  });
  for (const url of ['/docs/rest', '/docs/rest/']) answerOtherMethods(app, url, ['GET', 'HEAD']);
  const shown = JSON.parse(JSON.stringify(document, asNumber));
  await app.register(swagger, { mode: 'static', specification: { document: shown } });
  await app.register(swaggerUi, {
    routePrefix: '/docs/rest',
    theme: {
      title: `${document.info.title} ${document.info.version}`,
      favicon: [{ filename: 'logo.svg', rel: 'icon', type: SVG, sizes: 'any', content: logo }],
      css: [{ filename: 'theme.css', content: THEME }],
    },
    // Without the top bar: there is only one document to choose.
    uiConfig: { layout: 'BaseLayout', displayRequestDuration: true, tryItOutEnabled: true },
  });
}

/** Converts bigints to numbers, as a browser would read them anyway. */
function asNumber(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}
