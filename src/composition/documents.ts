import type { GraphQLSchema } from 'graphql';
import type { Config } from '../config';
import { KnownDocuments } from '../graphql/known-documents';
import { TrustedDocuments } from '../graphql/trusted-documents';
import { costLimits, documentLimits } from './bounds';

/** The documents that are known: at first those that are trusted. @throws Error for a manifest that cannot be used. */
export function createDocuments(config: Config, schema: GraphQLSchema): KnownDocuments {
  const { TRUSTED_DOCUMENTS: path, TRUSTED_DOCUMENTS_ONLY: only } = config;
  const bounds = { schema, limits: documentLimits(config), costs: costLimits(config) };
  return new KnownDocuments(path ? TrustedDocuments.read(path, bounds) : undefined, only);
}
