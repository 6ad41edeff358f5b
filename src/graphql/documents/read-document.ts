import { type DocumentNode, GraphQLError, type GraphQLSchema, parse } from 'graphql';
import type { OperationRequest } from '../execution/context';
import { isFreeOfQuota } from '../execution/operation';
import { faultsOf } from './document-faults';
import type { DocumentLimits } from './document-limits';
import type { KnownDocuments } from './known-documents';

const NOT_IN_SAFELIST = new GraphQLError('Only trusted documents may run here; this one is not in the list.', {
  extensions: { code: 'QUERY_NOT_IN_SAFELIST' },
});

/** Parses and validates a document that does not arrive through Apollo. @returns the document, or its errors. */
export function readDocument(
  schema: GraphQLSchema,
  documents: KnownDocuments,
  text: string,
  limits: DocumentLimits,
  request: OperationRequest,
): DocumentNode | readonly GraphQLError[] {
  const known = documents.find(text);
  if (known) return known;
  let document: DocumentNode;
  try {
    document = parse(text, { maxTokens: limits.tokens });
  } catch (error) {
    const message = reworded(error instanceof Error ? error.message : String(error));
    return [new GraphQLError(message, { extensions: { code: 'GRAPHQL_PARSE_FAILED' } })];
  }
  const faults = examine(schema, documents, { text, document }, limits, request);
  return faults.length ? faults : document;
}

/**
 * Why a parsed document may not run for this caller; empty if it may. A document that any caller may run is
 * added to `documents`. If only trusted documents may run, admins may still send others, and everyone may send
 * those that use no quota.
 */
export function examine(
  schema: GraphQLSchema,
  documents: KnownDocuments,
  { text, document }: { text: string; document: DocumentNode },
  limits: DocumentLimits,
  { caller, hidesSuggestions = false }: OperationRequest,
): readonly GraphQLError[] {
  if (documents.find(text)) return [];
  const isForAll = documents.admits(document);
  if (!isForAll && !caller.scopes.has('ADMIN') && !isFreeOfQuota(schema, document)) return [NOT_IN_SAFELIST];
  const faults = faultsOf(schema, document, limits, hidesSuggestions);
  if (!faults.length && isForAll) documents.add(text, document);
  return faults;
}

/** Rewords the parser's messages about documents that are too large for it. */
export function reworded(message: string): string {
  return message
    .replace(/^Syntax Error: Document contains more that (\d+) tokens.*/, 'The document has more than $1 tokens.')
    .replace(/^Maximum call stack size exceeded.*/, 'The document is nested too deeply to be parsed.');
}
