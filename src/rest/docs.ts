import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { JSON_TYPE, sendRead } from './answer';
import { answerOtherMethods } from './methods';
import { openApiDocument } from './openapi';
import type { PreparedOperation } from './prepare';

/** RFC 9512. */
const YAML_TYPE = 'application/yaml; charset=utf-8';

/**
 * The OpenAPI document, as JSON and as YAML, and a page at `/docs` to read it and to try the operations. The page needs
 * nothing from other servers, and its policy lets it load nothing from them.
 */
export async function docs(
  app: FastifyInstance,
  { operations }: { operations: readonly PreparedOperation[] },
): Promise<void> {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, metering: 'free', operation: 'docs' };
  });
  const document = openApiDocument(operations);
  await app.register(swagger, { mode: 'static', specification: { document } });
  const formats = [
    { url: '/openapi.json', text: JSON.stringify(document, null, 2), type: JSON_TYPE },
    { url: '/openapi.yaml', text: app.swagger({ yaml: true }), type: YAML_TYPE },
  ];
  for (const { url, text, type } of formats) {
    app.route({
      method: ['GET', 'HEAD'],
      url,
      handler: (request, reply) => sendRead(request, reply, text, type),
    });
    answerOtherMethods(app, url, ['GET', 'HEAD']);
  }
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    theme: { title: `${document.info.title} ${document.info.version}` },
    staticCSP: {
      'default-src': ["'self'"],
      'style-src': ["'self'", "'unsafe-inline'"],
      'img-src': ["'self'", 'data:'],
      'object-src': ["'none'"],
      'base-uri': ["'none'"],
      'frame-ancestors': ["'none'"],
    },
  });
}
