import { ProblemError } from '../errors/errors';

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

export function malformed(message: string): ProblemError {
  return new ProblemError('BAD_REQUEST', `The request is malformed: ${message}.`);
}
