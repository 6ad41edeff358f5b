import 'reflect-metadata';
import type { GraphQLSchema } from 'graphql';
import { ACCESS_ROUTES, ACCESS_TAGS, type AccessServices, accessResolvers } from '../access/access';
import { KEY_ID } from '../access/types';
import { catalogueOf } from '../errors/codes';
import type { Hub } from '../events/hub';
import { printed } from '../graphql/printed-schema';
import { buildSchema, type SchemaParts } from '../graphql/schema';
import { PETSTORE_ERRORS } from '../petstore/errors';
import { NODE_ID } from '../petstore/nodes';
import {
  PETSTORE_ROUTES,
  PETSTORE_TAGS,
  type PetstoreServices,
  petstoreResolvers,
  REST_DESCRIPTION,
  SCHEMA_DESCRIPTION,
} from '../petstore/petstore';
import { asYaml, type OpenApiDocument, openApiDocument } from '../rest/openapi/openapi-document';
import { prepareAll } from '../rest/prepared-operation';
import type { RestApi } from '../rest/rest-operation';

/** The services behind the resolvers. */
export interface Services extends PetstoreServices, AccessServices {
  readonly events: Hub;
}

/** Every error code that callers may get. */
export const CATALOGUE = catalogueOf(PETSTORE_ERRORS);

/** What the schema is built of: the petstore's resolvers and those of API keys. */
export function schemaParts(services: Services): SchemaParts {
  return {
    description: SCHEMA_DESCRIPTION,
    resolvers: [...petstoreResolvers(services), ...accessResolvers(services)],
    idForms: [KEY_ID, NODE_ID],
    errors: CATALOGUE,
    subscribe: (topic, passes) => services.events.subscribe(topic, passes),
  };
}

/** The REST interface: the petstore's operations and those of quotas. */
export const REST: RestApi = {
  title: 'Petstore Gateway',
  description: REST_DESCRIPTION,
  tags: { ...PETSTORE_TAGS, ...ACCESS_TAGS },
  operations: [...PETSTORE_ROUTES, ...ACCESS_ROUTES],
};

/** The schema. @param services may be left out where no resolver is called. */
export function contractSchema(services = {} as Services): GraphQLSchema {
  return buildSchema(schemaParts(services));
}

/** The OpenAPI document. */
export function contractDocument(schema = contractSchema()): OpenApiDocument {
  return openApiDocument(prepareAll(schema, REST), REST, CATALOGUE);
}

/** The contents of schema.graphql. */
export function printedSchema(): string {
  return printed(contractSchema());
}

/** The contents of docs/openapi.yaml. */
export function printedOpenApi(): string {
  return asYaml(contractDocument());
}
