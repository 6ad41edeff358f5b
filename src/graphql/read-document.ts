import { type DocumentNode, GraphQLError, type GraphQLSchema, parse } from 'graphql';
import type { Context } from './context';
import { faultsOf } from './document-faults';
import type { DocumentLimits } from './document-limits';
import type { KnownDocuments } from './known-documents';
import { isFreeOfQuota } from './operation';

const NOT_IN_SAFELIST = new GraphQLError(
  "Only documents of this service's list may run; this one is not there.",
  {
    extensions: { code: 'QUERY_NOT_IN_SAFELIST' },
  },
);

/** Parses and validates what comes by another way than Apollo's. @returns the document, or its faults. */
export function readDocument(
  schema: GraphQLSchema,
  documents: KnownDocuments,
  text: string,
  limits: DocumentLimits,
  context: Context,
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
  const faults = examine(schema, documents, { text, document }, limits, context);
  return faults.length ? faults : document;
}

/**
 * Why a parsed document may not run for this caller; nothing where it may. What anybody may run is known from then on.
 * Where only trusted documents may run, admins are free to send others, and all are what is free of quota.
 */
export function examine(
  schema: GraphQLSchema,
  documents: KnownDocuments,
  { text, document }: { text: string; document: DocumentNode },
  limits: DocumentLimits,
  { caller, hidesSuggestions }: Context,
): readonly GraphQLError[] {
  if (documents.find(text)) return [];
  const isForAll = documents.admits(document);
  if (!isForAll && !caller.scopes.has('ADMIN') && !isFreeOfQuota(schema, document)) return [NOT_IN_SAFELIST];
  const faults = faultsOf(schema, document, limits, hidesSuggestions);
  if (!faults.length && isForAll) documents.add(text, document);
  return faults;
}

/** What the parser says of documents that are too large for it, in this service's words. */
export function reworded(message: string): string {
  return message
    .replace(
      /^Syntax Error: Document contains more that (\d+) tokens.*/,
      'The document has more than $1 tokens.',
    )
    .replace(/^Maximum call stack size exceeded.*/, 'The document is nested too deep to be parsed.');
}
