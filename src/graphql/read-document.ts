import { type DocumentNode, GraphQLError, type GraphQLSchema, parse } from 'graphql';
import { faultsOf } from './document-faults';
import type { DocumentLimits } from './document-limits';
import type { KnownDocuments } from './known-documents';

/** Parses and validates what comes by another way than Apollo's. @returns the document, or its faults. */
export function readDocument(
  schema: GraphQLSchema,
  documents: KnownDocuments,
  text: string,
  limits: DocumentLimits,
  hidesSuggestions: boolean,
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
  const faults = faultsOf(schema, document, limits, hidesSuggestions);
  if (faults.length) return faults;
  documents.add(text, document);
  return document;
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
