import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import type { OpenAPIV3 } from 'openapi-types';
import { OWN, type Policy, pageHeaders } from './page';

export interface DocsOptions {
  readonly document: OpenAPIV3.Document;
  /** SVG. */
  readonly logo: Buffer;
}

/** Swagger UI draws with styles of its own, and with pictures inside of its style sheet. */
const POLICY: Policy = {
  ...OWN,
  'style-src': ["'self'", "'unsafe-inline'"],
  'img-src': ["'self'", 'data:'],
};

const SVG = 'image/svg+xml';

/** There is one document: nothing to choose at the top. */
const THEME = `
  .swagger-ui .topbar { background: #0f766e; padding: 6px 0; }
  .swagger-ui .topbar .download-url-wrapper { display: none; }
  .swagger-ui .topbar .link { flex: auto; max-width: none; }
  .swagger-ui .topbar .link::after { content: "Petstore Gateway"; font: 600 1rem system-ui, sans-serif; }
`;

/** `/docs`: the REST documentation, to read and to try the operations; it needs nothing from other servers. */
export async function docs(app: FastifyInstance, { document, logo }: DocsOptions): Promise<void> {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, operation: 'docs' };
  });
  const headers = pageHeaders(POLICY);
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers);
    done();
  });
  const shown = JSON.parse(JSON.stringify(document, asNumber));
  await app.register(swagger, { mode: 'static', specification: { document: shown } });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    theme: {
      title: `${document.info.title} ${document.info.version}`,
      favicon: [{ filename: 'logo.svg', rel: 'icon', type: SVG, sizes: 'any', content: logo }],
      css: [{ filename: 'theme.css', content: THEME }],
    },
    logo: { type: SVG, content: logo, href: '/', target: '_self' },
    uiConfig: { displayRequestDuration: true, tryItOutEnabled: true },
  });
}

/** Numbers as a browser reads them anyway. */
function asNumber(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}
