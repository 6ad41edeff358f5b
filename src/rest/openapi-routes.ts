import type { FastifyInstance } from 'fastify';
import { stringify as exactJson } from 'lossless-json';
import type { OpenAPIV3 } from 'openapi-types';
import { stringify as yaml } from 'yaml';
import { JSON_TYPE, sendRead } from './answer';
import { answerOtherMethods } from './methods';

/** RFC 9512. */
const YAML_TYPE = 'application/yaml; charset=utf-8';

/** The OpenAPI document, as JSON and as YAML. */
export async function openApiRoutes(
  app: FastifyInstance,
  { document }: { document: OpenAPIV3.Document },
): Promise<void> {
  const formats = [
    { url: '/openapi.json', text: exactJson(document, null, 2) ?? '', type: JSON_TYPE },
    { url: '/openapi.yaml', text: yaml(document, { aliasDuplicateObjects: false }), type: YAML_TYPE },
  ];
  for (const { url, text, type } of formats) {
    app.route({
      method: ['GET', 'HEAD'],
      url,
      config: { metering: 'free', operation: 'docs' },
      handler: (request, reply) => sendRead(request, reply, text, type),
    });
    answerOtherMethods(app, url, ['GET', 'HEAD']);
  }
}
