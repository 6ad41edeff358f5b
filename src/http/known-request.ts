import type { DocumentNode } from 'graphql';
import type { Alike } from '../graphql/alike-documents';
import type { Variables } from '../graphql/context';
import type { KnownDocuments } from '../graphql/known-documents';

/** The parameters of a GraphQL request, as sent: values of the body, or texts of the query string. */
export type Parameters = Readonly<Record<string, unknown>>;

/** A well-formed request for a document that has passed every check that does not depend on the caller. */
export interface KnownRequest {
  readonly document: DocumentNode;
  readonly operationName: string | undefined;
  readonly variables: Variables;
  /** Set if the document is known but for its values: moves the locations of errors to those in its text. */
  readonly relocate?: Alike['relocate'];
}

/**
 * Reads a request, in whatever form it names its document: by its text, by the hash of a persisted query, or by both.
 * @param isUrl whether objects are sent as JSON texts.
 * @param mayDiffer whether it is known if it differs from a known document only in values.
 * @returns `undefined` for unknown documents and for anything malformed.
 */
export function knownRequest(
  sent: Parameters,
  documents: KnownDocuments,
  isUrl: boolean,
  mayDiffer: boolean,
): KnownRequest | undefined {
  const { operationName } = sent;
  const text = documentText(sent, documents, isUrl);
  const variables = objectOf(sent.variables, isUrl);
  if (text === undefined || !variables) return undefined;
  if (operationName != null && typeof operationName !== 'string') return undefined;
  const request = { operationName: operationName ?? undefined, variables };
  const document = documents.find(text);
  if (document) return { document, ...request };
  const alike = mayDiffer ? documents.alike.find(text) : undefined;
  if (!alike) return undefined;
  const { values, relocate } = alike;
  return { ...request, document: alike.document, variables: { ...variables, ...values }, relocate };
}

function documentText(
  { query, extensions }: Parameters,
  documents: KnownDocuments,
  isUrl: boolean,
): string | undefined {
  const asked = objectOf(extensions, isUrl);
  const text = typeof query === 'string' && query !== '' ? query : undefined;
  if (!asked?.persistedQuery) return asked && text;
  const { version, sha256Hash } = objectOf(asked.persistedQuery) ?? {};
  const registered = version === 1 ? documents.persisted.find(String(sha256Hash)) : undefined;
  return text === undefined || text === registered ? registered : undefined;
}

/** An object; empty if it is absent. @param isText whether it may be sent as JSON text. */
function objectOf(value: unknown, isText = false): Variables | undefined {
  if (value === undefined || value === null) return {};
  if (typeof value === 'object') return Array.isArray(value) ? undefined : (value as Variables);
  if (!isText || typeof value !== 'string') return undefined;
  try {
    return objectOf(JSON.parse(value));
  } catch {
    return undefined;
  }
}
