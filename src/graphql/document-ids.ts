import { ProblemError } from './errors';
import type { KnownDocuments } from './known-documents';

type Parameters = Readonly<Record<string, unknown>>;

/**
 * The parameters of a request with the text of the trusted document that it names instead: by `documentId` (the draft of
 * GraphQL over HTTP) or by `extensions.persistedQuery.sha256Hash` (Apollo). What names none stays as it is; so does what
 * belongs to the protocol of automatic persisted queries. An empty operationName is none (GraphQL over HTTP, GET).
 * @param given as they came; whatever is wrong with the others is told by those who read them.
 * @throws ProblemError `PERSISTED_QUERY_NOT_IN_LIST`, `BAD_REQUEST`.
 */
export function withText(given: Parameters, documents: KnownDocuments): Parameters {
  if (given.operationName === '') {
    const { operationName: _, ...unnamed } = given;
    return withText(unnamed, documents);
  }
  if (given.documentId === undefined && given.extensions === undefined) return given;
  const { documentId, extensions, query, ...rest } = given;
  const hash = hashIn(extensions);
  const hasText = query !== undefined && query !== null && query !== '';
  // A hash beside the text is there to be checked and kept.
  if (documentId === undefined && (hash === undefined || hasText)) return given;
  const isAlone = documentId === undefined || (hash === undefined && !hasText);
  const id = documentId ?? hash;
  if (!isAlone || typeof id !== 'string')
    throw malformed('documentId must be a string, in the place of the query');
  const text = documents.textOf(id);
  if (text !== undefined) return { ...rest, query: text };
  if (documentId === undefined && !documents.onlyTrusted) return given;
  throw new ProblemError('PERSISTED_QUERY_NOT_IN_LIST', `No document of the id "${id}" is known here.`);
}

function malformed(message: string): ProblemError {
  return new ProblemError('BAD_REQUEST', `The request is malformed: ${message}.`);
}

/** @param extensions an object, or JSON of one in a URL. @throws ProblemError `BAD_REQUEST`. */
function hashIn(extensions: unknown): string | undefined {
  const hash = (objectOf(extensions) as ApolloExtensions | undefined)?.persistedQuery?.sha256Hash;
  if (hash === undefined || hash === null) return undefined;
  // Apollo would fail at what cannot be made a string.
  if (typeof hash !== 'string') throw malformed('sha256Hash must be a string');
  return hash;
}

interface ApolloExtensions {
  readonly persistedQuery?: { readonly sha256Hash?: unknown } | null;
}

function objectOf(extensions: unknown): object | undefined {
  if (typeof extensions === 'object') return extensions ?? undefined;
  try {
    return typeof extensions === 'string' ? (JSON.parse(extensions) ?? undefined) : undefined;
  } catch {
    return undefined;
  }
}
