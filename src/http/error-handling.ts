import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { errorBody, type Problem, ProblemError, problemOf } from '../errors/errors';
import { extensionsOf } from '../graphql/outcome';
import { JSON_TYPE, JSON_UTF8, PATCH_TYPES } from '../rest/media-types';
import type { ErrorLog } from './error-log';
import { prefersPage, responseType, statusFor } from './graphql-media-types';
import type { Page } from './portal';
import { GRAPHQL_PATH, rejectBadUrls, STREAM_PATH } from './urls';

/** Maximum length of a path in an error message. */
const MAX_SHOWN = 200;

/**
 * Answers errors and unknown paths in the error format of the interface that the client called, GraphQL or REST.
 * @param missing the page for a browser that requests an unknown path.
 */
export function answerErrors(app: FastifyInstance, missing: Page, errorLog: ErrorLog): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const { internal, ...problem } = problemOf(fromFastify(error, request));
    if (internal) errorLog.add(error, request.id);
    // RFC 5789, section 2.2 asks for `Accept-Patch` on this response.
    if (problem.status === 415 && isPatch(request)) reply.header('accept-patch', PATCH_TYPES.join(', '));
    return sendProblem(request, reply, problem);
  });
  rejectBadUrls(app);
  app.setNotFoundHandler((request, reply) => {
    // After a handler has called `callNotFound()`, `request.route` is still the config of that handler's route.
    request.route = request.routeOptions.config;
    const path = pathOf(request);
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (isRead && prefersPage(request.headers.accept)) return missing.send(reply);
    const shown = path.length > MAX_SHOWN ? `${path.slice(0, MAX_SHOWN)}…` : path;
    const message = `${request.method} ${shown} does not exist.`;
    const problem = { code: 'NOT_FOUND', message, status: 404 } as const;
    return sendProblem(request, reply, problem);
  });
}

function fromFastify(error: FastifyError, request: FastifyRequest): unknown {
  // Fastify's parsers throw these errors. Their messages are not written for callers.
  if (error.statusCode === 400) return new ProblemError('BAD_REQUEST', 'The request is malformed.');
  if (error.statusCode === 415) {
    const types = isPatch(request) ? PATCH_TYPES.join(' or ') : JSON_TYPE;
    return new ProblemError('UNSUPPORTED_MEDIA_TYPE', `The body must be ${types}.`);
  }
  return error;
}

function isPatch({ method }: FastifyRequest): boolean {
  return method === 'PATCH';
}

/** An error response in the format of the interface that the client called, GraphQL or REST. */
interface ErrorAnswer {
  readonly status: number;
  /** The media type. */
  readonly type: string;
  readonly body: object;
}

/** Makes the error response for a whole request, and records the error for logs and metrics. */
export function errorAnswer(request: FastifyRequest, problem: Problem): ErrorAnswer {
  request.rejection = problem;
  const path = pathOf(request);
  if (path !== GRAPHQL_PATH && path !== STREAM_PATH)
    return { status: problem.status, type: JSON_UTF8, body: errorBody(problem, request.id) };
  const { accept } = request.headers;
  const body = { errors: [{ message: problem.message, extensions: extensionsOf(problem, request.id) }] };
  return { status: statusFor(accept, problem.status, body), type: responseType(accept) ?? JSON_UTF8, body };
}

export function sendProblem(request: FastifyRequest, reply: FastifyReply, problem: Problem): FastifyReply {
  const { status, type, body } = errorAnswer(request, problem);
  return reply.code(status).type(type).send(body);
}

/** The path as the client sent it, before it is rewritten for routing. */
function pathOf({ originalUrl }: FastifyRequest): string {
  return originalUrl.split('?', 1)[0] ?? originalUrl;
}
