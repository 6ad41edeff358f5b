import type { FastifyInstance } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import { stringify as exactJson } from 'lossless-json';
import type { OpenAPIV3 } from 'openapi-types';
import { printed } from '../graphql/printed-schema';
import { readRoute } from '../http/allowed-methods';
import { etagOf } from '../rest/entity-tags';
import { JSON_UTF8 } from '../rest/media-types';
import { asYaml } from '../rest/openapi/openapi-document';
import { type Asset, assetOf } from './assets';
import { sendAsset } from './send-asset';

/** The media type of YAML (RFC 9512). */
const YAML_TYPE = 'application/yaml; charset=utf-8';
const SDL_TYPE = 'application/graphql; charset=utf-8';

/**
 * Registers the routes of the OpenAPI document and the GraphQL schema. The schema contains all directives, which
 * introspection would omit.
 */
export function contractRoutes(app: FastifyInstance, document: OpenAPIV3.Document, schema: GraphQLSchema): void {
  textRoute(app, '/openapi.json', JSON_UTF8, () => exactJson(document, null, 2) ?? '');
  textRoute(app, '/openapi.yaml', YAML_TYPE, () => asYaml(document));
  textRoute(app, '/schema.graphql', SDL_TYPE, () => printed(schema));
}

/** Registers a route that serves a text. @param write creates the text. It is called once, on the first request. */
function textRoute(app: FastifyInstance, url: string, type: string, write: () => string): void {
  const make = () => {
    const text = write();
    return assetOf(type, Buffer.from(text), etagOf(text));
  };
  let asset: Asset | undefined;
  readRoute(app, url, {
    config: { metering: 'page', logName: 'docs' },
    handler: (_request, reply) => {
      asset ??= make();
      return sendAsset(reply, asset, 'private, no-cache');
    },
  });
}
