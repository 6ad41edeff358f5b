import { ProblemError } from '../errors/errors';
import type { Documents } from './documents';

type Parameters = Readonly<Record<string, unknown>>;

/**
 * Replaces the id of a trusted document in a request's parameters with its text: `documentId` (GraphQL over
 * HTTP, draft) or `extensions.persistedQuery.sha256Hash` (Apollo). Requests without an id and those of the
 * automatic persisted queries protocol are unchanged. An empty operationName is dropped (GraphQL over HTTP,
 * GET).
 * @param given the raw parameters; only those above are checked here.
 * @throws ProblemError `PERSISTED_QUERY_NOT_IN_LIST`, `BAD_REQUEST`.
 */
export function withText(given: Parameters, documents: Documents): Parameters {
  if (given.operationName === '') {
    const { operationName: _, ...unnamed } = given;
    return withText(unnamed, documents);
  }
  if (given.documentId === undefined && given.extensions === undefined) return given;
  const { documentId, extensions, query, ...rest } = given;
  const hash = hashIn(extensions);
  const hasText = query !== undefined && query !== null && query !== '';
  // A hash sent with the text is for Apollo to check and store.
  if (documentId === undefined && (hash === undefined || hasText)) return given;
  const isAlone = documentId === undefined || (hash === undefined && !hasText);
  const id = documentId ?? hash;
  if (!isAlone || typeof id !== 'string') throw malformed('documentId must be a string, sent instead of the query');
  const text = documents.trusted?.textOf(id);
  if (text !== undefined) return { ...rest, query: text };
  // Without its empty query, which Apollo Server would compare with the hash.
  if (documentId === undefined && !documents.onlyTrusted) return { ...rest, extensions };
  throw new ProblemError('PERSISTED_QUERY_NOT_IN_LIST', `No document with the id "${id}" is known here.`);
}

function malformed(message: string): ProblemError {
  return new ProblemError('BAD_REQUEST', `The request is malformed: ${message}.`);
}

/** @param extensions an object, or in a URL its JSON. @throws ProblemError `BAD_REQUEST`. */
function hashIn(extensions: unknown): string | undefined {
  const hash = (objectOf(extensions) as ApolloExtensions | undefined)?.persistedQuery?.sha256Hash;
  if (hash === undefined || hash === null) return undefined;
  // Apollo would throw on a value that cannot be converted to a string.
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
