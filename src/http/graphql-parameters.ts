import { ProblemError } from '../errors/errors';
import type { Documents } from '../graphql/documents';

/** The parameters of a GraphQL request: `query`, `variables` and so on. */
export type Parameters = Readonly<Record<string, unknown>>;

const TEXTS = ['query', 'operationName', 'documentId'];
/** In a URL, these parameters are the JSON texts of objects. */
const OBJECTS = ['variables', 'extensions'];

/**
 * Reads the parameters of a GET request, in the form of a POST request's body. Empty parameters count as absent, since
 * clients that build URLs from forms send them.
 * @param query the parsed query string.
 * @throws ProblemError `BAD_REQUEST`.
 */
export function parametersInUrl(query: Parameters): Parameters {
  // `query` is always present, since Apollo Server reports an empty object as a missing body.
  const read: Record<string, unknown> = { query: undefined };
  for (const name of [...TEXTS, ...OBJECTS]) {
    const text = query[name];
    if (text === undefined || text === '') continue;
    if (typeof text !== 'string') throw malformed(`${name} must be given once`);
    read[name] = OBJECTS.includes(name) ? parseObject(name, text) : text;
  }
  return read;
}

function parseObject(name: string, text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw malformed(`${name} must be a JSON object`);
  }
  if (typeof value !== 'object' || Array.isArray(value)) throw malformed(`${name} must be a JSON object`);
  return value;
}

/**
 * Brings the parameters of a request into one form. Drops an empty `operationName`. Replaces the id of a trusted document by the
 * document's text. The id is `documentId` (GraphQL over HTTP, draft) or `extensions.persistedQuery.sha256Hash` (Apollo). Null
 * counts as absent. An automatic persisted query keeps its hash, without an empty `query`.
 * @param given the parameters. Only the two ids are checked here.
 * @throws ProblemError `PERSISTED_QUERY_NOT_IN_LIST`, `BAD_REQUEST`.
 */
export function normalizeParameters(
  given: Parameters,
  documents: Pick<Documents, 'trusted' | 'onlyTrusted'>,
): Parameters {
  if (given.operationName === '') {
    const { operationName: _, ...unnamed } = given;
    return normalizeParameters(unnamed, documents);
  }
  const documentId = given.documentId ?? undefined;
  if (documentId === undefined && given.extensions === undefined) return given;
  const { documentId: _, extensions, query, ...rest } = given;
  const hash = hashIn(extensions);
  const hasText = query !== undefined && query !== null && query !== '';
  // If a hash is sent together with the text, Apollo Server checks the hash and stores the text.
  if (documentId === undefined && (hash === undefined || hasText)) return given;
  const isAlone = documentId === undefined || (hash === undefined && !hasText);
  const id = documentId ?? hash;
  if (!isAlone || typeof id !== 'string')
    throw malformed('documentId must be a string, and must not be sent together with query');
  const text = documents.trusted?.textOf(id);
  if (text !== undefined) return { ...rest, query: text };
  // Drops an empty query, since Apollo Server would compare it with the hash.
  if (documentId === undefined && !documents.onlyTrusted) return { ...rest, extensions };
  throw new ProblemError(
    'PERSISTED_QUERY_NOT_IN_LIST',
    `No trusted document has the id "${id}". Add the document to the manifest.`,
  );
}

/** @throws ProblemError `BAD_REQUEST`. */
function hashIn(extensions: unknown): string | undefined {
  const hash = (extensions as ApolloExtensions | null | undefined)?.persistedQuery?.sha256Hash;
  if (hash === undefined || hash === null) return undefined;
  // Apollo would throw on a value that cannot be converted to a string.
  if (typeof hash !== 'string') throw malformed('sha256Hash must be a string');
  return hash;
}

interface ApolloExtensions {
  readonly persistedQuery?: { readonly sha256Hash?: unknown } | null;
}

export function malformed(message: string): ProblemError {
  return new ProblemError('BAD_REQUEST', `The request is malformed: ${message}.`);
}
