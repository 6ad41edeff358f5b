import { printSchemaWithDirectives } from '@graphql-tools/utils';
import { buildSchema, type Services } from './schema';

/** The contents of schema.graphql, with directives. No resolver is called. */
export function printedSchema(): string {
  return `${printSchemaWithDirectives(buildSchema({} as Services))}\n`;
}
