import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorCode } from '../errors/codes';
import { errorBody, type Problem, ProblemError, problemOf } from '../errors/errors';
import { extensionsOf } from '../graphql/outcome';
import { JSON_TYPE, PATCH_TYPES } from '../rest/representation';
import { prefersPage, responseType, statusFor } from './graphql-media-types';
import type { Page } from './portal';

export const GRAPHQL_PATH = '/graphql';
export const STREAM_PATH = '/graphql/stream';

/** Fastify's own errors, mapped to the contract's codes. */
const FASTIFY_CODES: Readonly<Record<string, [ErrorCode, string]>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['PAYLOAD_TOO_LARGE', 'The body must not be larger than 100 KiB.'],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['BAD_REQUEST', 'The body must not be empty.'],
  FST_ERR_CTP_INVALID_JSON_BODY: ['BAD_REQUEST', 'The body is not valid JSON.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['BAD_REQUEST', 'The length of the body does not match Content-Length.'],
};

const BAD_URL_PATH = '/.bad-url';
const LONG_URL_PATH = '/.long-url';

/** Maximum size of a request body, and of a message over WebSocket, in bytes (contract, section 4: 413 over 100 KiB). */
export const BODY_LIMIT = 100 * 1024;
/** Maximum length of a URL in bytes. Node limits all headers of a request, with its URL, to 16 KiB. */
export const MAX_URL_LENGTH = 8 * 1024;
/** Maximum length of a path in an error message. */
const MAX_SHOWN = 200;

/**
 * The URL to route. For a URL that is too long or cannot be decoded it is the path of a route that rejects it: Fastify would
 * respond bypassing all hooks, without the headers of every response.
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

/**
 * Answers errors and unknown paths with the contract's error, in the format of the interface that was called.
 * @param missing the page for browsers at an unknown page of the documentation.
 */
export function answerErrors(app: FastifyInstance, missing: Page): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const { internal, ...problem } = problemOf(fromFastify(error, request));
    if (internal) request.log.error({ err: error, requestId: request.id });
    // RFC 5789, section 2.2.
    if (problem.status === 415 && isPatch(request)) reply.header('accept-patch', PATCH_TYPES.join(', '));
    return sendProblem(request, reply, problem);
  });
  app.all(BAD_URL_PATH, () => {
    throw new ProblemError('BAD_REQUEST', 'The URL is not valid: a percent sign must start a UTF-8 escape.');
  });
  app.all(LONG_URL_PATH, () => {
    throw new ProblemError('URI_TOO_LONG', `The URL must not be longer than ${MAX_URL_LENGTH} bytes.`);
  });
  app.setNotFoundHandler((request, reply) => {
    // After `callNotFound()` in a handler it is still the handler's.
    request.route = request.routeOptions.config;
    const path = pathOf(request);
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (isRead && path.startsWith('/docs/') && prefersPage(request.headers.accept)) return missing.send(reply);
    const shown = path.length > MAX_SHOWN ? `${path.slice(0, MAX_SHOWN)}…` : path;
    const message = `${request.method} ${shown} does not exist.`;
    const problem = { code: 'NOT_FOUND', message, status: 404 } as const;
    return sendProblem(request, reply, problem);
  });
}

function fromFastify(error: FastifyError, request: FastifyRequest): unknown {
  const known = FASTIFY_CODES[error.code];
  if (known) return new ProblemError(...known);
  // Errors thrown by Fastify's parsers, whose messages are not for callers.
  if (error.statusCode === 400) return new ProblemError('BAD_REQUEST', 'The request is malformed.');
  if (error.statusCode === 415) {
    const types = isPatch(request) ? PATCH_TYPES.join(' or ') : PATCH_TYPES[0];
    return new ProblemError('UNSUPPORTED_MEDIA_TYPE', `The body must be ${types}.`);
  }
  return error;
}

function isPatch({ method }: FastifyRequest): boolean {
  return method === 'PATCH';
}

/** The response with an error, in the format of the interface that was called. */
export interface ErrorAnswer {
  readonly status: number;
  /** The media type. */
  readonly type: string;
  readonly body: object;
}

/** The response that rejects a whole request. Logs and metrics report the error too. */
export function errorAnswer(request: FastifyRequest, problem: Problem): ErrorAnswer {
  request.rejection = problem;
  const path = pathOf(request);
  if (path !== GRAPHQL_PATH && path !== STREAM_PATH)
    return { status: problem.status, type: JSON_TYPE, body: errorBody(problem, request.id) };
  const { accept } = request.headers;
  const body = { errors: [{ message: problem.message, extensions: extensionsOf(problem, request.id) }] };
  return { status: statusFor(accept, problem.status, body), type: responseType(accept) ?? JSON_TYPE, body };
}

function sendProblem(request: FastifyRequest, reply: FastifyReply, problem: Problem): FastifyReply {
  const { status, type, body } = errorAnswer(request, problem);
  return reply.code(status).type(type).send(body);
}

/** The path as the client sent it, before it is rewritten for routing. */
function pathOf({ originalUrl }: FastifyRequest): string {
  return originalUrl.split('?', 1)[0] ?? originalUrl;
}
