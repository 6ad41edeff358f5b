import 'reflect-metadata';
import type { GraphQLSchema } from 'graphql';
import { type AccessServices, createAccess } from '../access/access';
import { printed } from '../graphql/printed-schema';
import { buildSchema } from '../graphql/schema';
import { createPetstore } from '../petstore/petstore';
import { combineDomains, type Domains } from '../rest/domain';
import { asYaml, type OpenApiDocument, openApiDocument } from '../rest/openapi/openapi-document';
import { prepareAll } from '../rest/prepared-operation';

/** The domains of the gateway. @param access may be left out where no resolver of API keys is called. */
export function gatewayDomains(access = {} as AccessServices, petstore = createPetstore()): Domains {
  return combineDomains([petstore, createAccess(access)]);
}

/** The schema, without events. */
export function contractSchema(domains = gatewayDomains()): GraphQLSchema {
  return buildSchema({ ...domains, subscribe: () => NO_EVENTS });
}

const NO_EVENTS = { [Symbol.asyncIterator]: () => ({ next: async () => ({ value: undefined, done: true }) as const }) };

/** The OpenAPI document. */
export function contractDocument(domains = gatewayDomains(), schema = contractSchema(domains)): OpenApiDocument {
  return openApiDocument(prepareAll(schema, domains.rest), domains.rest, domains.errors);
}

/** The contents of schema.graphql. */
export function printedSchema(): string {
  return printed(contractSchema());
}

/** The contents of docs/openapi.yaml. */
export function printedOpenApi(): string {
  return asYaml(contractDocument());
}
