import { printSchemaWithDirectives } from '@graphql-tools/utils';
import { buildSchema, type Services } from './schema';

/** The schema as it is committed in schema.graphql, with its directives. Its resolvers are not called. */
export function printedSchema(): string {
  return `${printSchemaWithDirectives(buildSchema({} as Services))}\n`;
}
