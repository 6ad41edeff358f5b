import type { GraphQLSchema } from 'graphql';
import type { Config } from '../config';
import { KnownDocuments } from '../graphql/documents/known-documents';
import { TrustedDocuments } from '../graphql/documents/trusted-documents';
import { costLimits, documentLimits } from './bounds';

/** The known documents, initially the trusted ones. @throws Error if the manifest cannot be used. */
export function createDocuments(config: Config, schema: GraphQLSchema): KnownDocuments {
  const { TRUSTED_DOCUMENTS: path, TRUSTED_DOCUMENTS_ONLY: only } = config;
  const bounds = { schema, limits: documentLimits(config), costs: costLimits(config) };
  return new KnownDocuments(schema, bounds.limits, path ? TrustedDocuments.read(path, bounds) : undefined, only);
}
