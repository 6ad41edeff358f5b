import type { GraphQLSchema } from 'graphql';
import { KnownDocuments } from '../graphql/known-documents';
import { TrustedDocuments } from '../graphql/trusted-documents';
import { costLimits, documentLimits } from './bounds';
import type { Config } from './config';

/** The known documents, initially the trusted ones. @throws Error if the manifest cannot be used. */
export function createDocuments(config: Config, schema: GraphQLSchema): KnownDocuments {
  const { TRUSTED_DOCUMENTS: path, TRUSTED_DOCUMENTS_ONLY: only } = config;
  const bounds = { schema, limits: documentLimits(config), costs: costLimits(config) };
  return new KnownDocuments(schema, bounds.limits, path ? TrustedDocuments.read(path, bounds) : undefined, only);
}
