import type { FastifyInstance } from 'fastify';
import { stringify as exactJson } from 'lossless-json';
import type { OpenAPIV3 } from 'openapi-types';
import { stringify as yaml } from 'yaml';
import { answerOtherMethods } from '../other-methods';
import { JSON_TYPE, sendRead } from '../responses/send-result';

/** RFC 9512. */
const YAML_TYPE = 'application/yaml; charset=utf-8';

/** The OpenAPI document, as JSON and as YAML; each is written when it is first asked for. */
export async function openApiRoutes(
  app: FastifyInstance,
  { document }: { document: OpenAPIV3.Document },
): Promise<void> {
  const formats = [
    { url: '/openapi.json', type: JSON_TYPE, write: () => exactJson(document, null, 2) ?? '' },
    { url: '/openapi.yaml', type: YAML_TYPE, write: () => yaml(document, { aliasDuplicateObjects: false }) },
  ];
  for (const { url, type, write } of formats) {
    let text: string | undefined;
    app.route({
      method: ['GET', 'HEAD'],
      url,
      config: { metering: 'free', operation: 'docs' },
      handler: (request, reply) => {
        text ??= write();
        return sendRead(request, reply, text, type);
      },
    });
    answerOtherMethods(app, url, ['GET', 'HEAD']);
  }
}
