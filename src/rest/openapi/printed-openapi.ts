import { buildSchema, type Services } from '../../graphql/schema';
import { OPERATIONS } from '../../petstore/operations';
import { prepare } from '../prepared-operation';
import { asYaml, openApiDocument } from './openapi-document';

/** The contents of docs/openapi.yaml. No resolver is called. */
export function printedOpenApi(): string {
  const schema = buildSchema({} as Services);
  return asYaml(openApiDocument(OPERATIONS.map((operation) => prepare(schema, operation))));
}
