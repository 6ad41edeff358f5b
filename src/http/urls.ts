import type { FastifyInstance } from 'fastify';
import { ProblemError } from '../errors/errors';

export const GRAPHQL_PATH = '/graphql';
export const STREAM_PATH = '/graphql/stream';

/** Maximum length of a URL in bytes. Node limits the URL and headers of a request to 16 KiB in total. */
export const MAX_URL_LENGTH = 8 * 1024;

const BAD_URL_PATH = '/.bad-url';
const LONG_URL_PATH = '/.long-url';

/**
 * The URL that Fastify routes. A URL that is too long or cannot be decoded is replaced by the path of a route that rejects
 * the request. Fastify itself would reject such a URL without running any hooks, so the response would lack the usual
 * headers.
 */
export function routableUrl({ url = '/' }: { url?: string }): string {
  if (url.length > MAX_URL_LENGTH) return LONG_URL_PATH;
  if (!url.includes('%')) return url;
  try {
    decodeURIComponent(url);
    return url;
  } catch {
    return BAD_URL_PATH;
  }
}

/** Adds the routes of the paths that {@link routableUrl} returns for invalid URLs. These routes reject the request. */
export function rejectBadUrls(app: FastifyInstance): void {
  app.all(BAD_URL_PATH, () => {
    throw new ProblemError('BAD_REQUEST', 'The URL is not valid: a percent sign must start a UTF-8 escape.');
  });
  app.all(LONG_URL_PATH, () => {
    throw new ProblemError('URI_TOO_LONG', `The URL must not be longer than ${MAX_URL_LENGTH} bytes.`);
  });
}
