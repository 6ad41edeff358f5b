import { printSchemaWithDirectives } from '@graphql-tools/utils';
import type { GraphQLSchema } from 'graphql';
import { buildSchema, type Services } from './schema';

/** A schema as text, with directives. */
export function printed(schema: GraphQLSchema): string {
  return `${printSchemaWithDirectives(schema)}\n`;
}

/** The contents of schema.graphql. No resolver is called. */
export function printedSchema(): string {
  return printed(buildSchema({} as Services));
}
