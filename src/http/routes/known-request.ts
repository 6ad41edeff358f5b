import type { DocumentNode } from 'graphql';
import type { KnownDocuments } from '../../graphql/documents/known-documents';
import type { Variables } from '../../graphql/execution/context';

/** The parameters of a GraphQL request, as sent: values of the body, or texts of the query string. */
export type Parameters = Readonly<Record<string, unknown>>;

/** A well-formed request for a document that has passed every check that does not depend on the caller. */
export interface KnownRequest {
  readonly document: DocumentNode;
  readonly operationName: string | undefined;
  readonly variables: Variables;
}

/**
 * Reads a request, in whatever form it names its document: by its text, by the hash of a persisted query, or by both.
 * @returns `undefined` for unknown documents and for anything malformed.
 */
export function knownRequest(sent: Parameters, documents: KnownDocuments): KnownRequest | undefined {
  const { operationName } = sent;
  const text = documentText(sent, documents);
  const document = text === undefined ? undefined : documents.find(text);
  const variables = objectOf(sent.variables);
  if (!document || !variables) return undefined;
  if (operationName != null && typeof operationName !== 'string') return undefined;
  return { document, operationName: operationName ?? undefined, variables };
}

function documentText({ query, extensions }: Parameters, documents: KnownDocuments): string | undefined {
  const asked = objectOf(extensions);
  const text = typeof query === 'string' && query !== '' ? query : undefined;
  if (!asked?.persistedQuery) return asked && text;
  const { version, sha256Hash } = objectOf(asked.persistedQuery) ?? {};
  const registered = version === 1 ? documents.persisted.find(String(sha256Hash)) : undefined;
  return text === undefined || text === registered ? registered : undefined;
}

/** An object that is sent as such, or in a URL as JSON; empty if it is absent. */
function objectOf(value: unknown): Variables | undefined {
  if (value === undefined || value === null) return {};
  if (typeof value === 'object') return Array.isArray(value) ? undefined : (value as Variables);
  if (typeof value !== 'string') return undefined;
  try {
    const parsed: unknown = JSON.parse(value);
    return typeof parsed === 'string' ? undefined : objectOf(parsed);
  } catch {
    return undefined;
  }
}
