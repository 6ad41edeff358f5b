import 'reflect-metadata';
import type { GraphQLSchema } from 'graphql';
import type { OpenAPIV3 } from 'openapi-types';
import { printed } from '../graphql/printed-schema';
import { buildSchema } from '../graphql/schema';
import { asYaml, openApiDocument } from '../rest/openapi/openapi-document';
import { prepareRoutes } from '../rest/prepared-route';
import { gatewayDomains } from './domains';

/** Builds the GraphQL schema for documentation. Subscriptions in this schema never deliver events. */
export function contractSchema(domains = gatewayDomains()): GraphQLSchema {
  return buildSchema({ ...domains, subscribe: () => NO_EVENTS });
}

const NO_EVENTS = { [Symbol.asyncIterator]: () => ({ next: async () => ({ value: undefined, done: true }) as const }) };

/** The OpenAPI document of the REST interface. */
export function contractDocument(domains = gatewayDomains(), schema = contractSchema(domains)): OpenAPIV3.Document {
  return openApiDocument(prepareRoutes(schema, domains.rest), domains.rest, domains.errors);
}

/** The contents of schema.graphql. */
export function printedSchema(): string {
  return printed(contractSchema());
}

/** The contents of docs/openapi.yaml. */
export function printedOpenApi(): string {
  return asYaml(contractDocument());
}
