import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FormattedExecutionResult } from 'graphql';
import { parse } from 'lossless-json';
import { JsonText } from '../database/reading/json-text';
import { badInput, ExpectedError, type Problem, ProblemError } from '../errors/errors';
import { etagOf, isKnown } from './entity-tags';
import { JSON_UTF8 } from './media-types';
import type { PreparedRoute } from './prepared-route';
import type { RestRequest } from './request-variables';
import { filler, pathParameters } from './rest-route';

interface Page {
  readonly nodes: readonly unknown[];
  readonly hasNextPage: boolean;
  readonly endCursor: string | null;
}

/**
 * Sends the response of an operation that has run.
 * @param body the GraphQL response.
 * @throws ExpectedError if the operation failed, with REST names instead of GraphQL paths; `NOT_FOUND` if the operation found
 * nothing.
 */
export function sendResult(
  route: PreparedRoute,
  body: FormattedExecutionResult,
  request: RestRequest,
  reply: FastifyReply,
): FastifyReply {
  const { ok, payload, write, pathOf, locationOf, additions } = route;
  const result = resultOf(route, body);
  if (result === null || result === undefined) throw notFoundError(route, request.params);
  if (ok === 204) return reply.code(204).send();
  if (route.method === 'GET') {
    if (!payload.isPage) return sendRead(request, reply, write(result));
    const { nodes, hasNextPage, endCursor } = pageIn(result);
    const relations = [...(hasNextPage ? ['next'] : []), ...(additions ? ['monitor'] : [])];
    if (relations.length && endCursor !== null) {
      const url = linkAfter(pathOf(request.params), request.query, endCursor);
      reply.header('link', relations.map((relation) => `<${url}>; rel="${relation}"`).join(', '));
    }
    return sendRead(request, reply, write(nodes));
  }
  if (locationOf) reply.header('location', locationOf({ ...request.params, ...(result as Record<string, string>) }));
  const text = write(result);
  return reply.code(ok).header('etag', etagOf(text)).header('content-type', JSON_UTF8).send(text);
}

/** The page in the response of a list's operation. @throws the ExpectedErrors of {@link sendResult}. */
export function pageOf(route: PreparedRoute, body: FormattedExecutionResult): Page {
  return pageIn(resultOf(route, body));
}

function pageIn(result: unknown): Page {
  const { nodes, pageInfo } = result as Pick<Page, 'nodes'> & { pageInfo: Page };
  const { hasNextPage, endCursor } = pageInfo instanceof JsonText ? (pageInfo.toJSON() as Page) : pageInfo;
  return { nodes, hasNextPage, endCursor };
}

function resultOf({ payload, errorPaths }: PreparedRoute, { errors, data }: FormattedExecutionResult): unknown {
  const [error] = errors ?? [];
  if (error) {
    const { code, status, details, requestId, retryAfter } = error.extensions as unknown as Problem;
    const renamed = details?.map((detail) => ({ ...detail, path: errorPaths.get(detail.path) ?? detail.path }));
    // The message of BAD_USER_INPUT lists the details, so it is created again from the renamed details. Other messages stay
    // unchanged.
    if (renamed && code === 'BAD_USER_INPUT') throw badInput(...renamed);
    throw new ExpectedError(code, status, error.message, renamed, requestId, retryAfter);
  }
  let result: unknown = data;
  for (const key of payload.keys) {
    // If PostgreSQL wrote the parent object as JSON text, parse it without rounding large integers.
    if (result instanceof JsonText) result = parse(result.text);
    result = (result as Readonly<Record<string, unknown>> | null | undefined)?.[key];
  }
  return result;
}

/** The error for an operation that returned null. */
function notFoundError({ missing, payload, path: template }: PreparedRoute, path: RestRequest['params']) {
  const [parameter] = pathParameters(template);
  const message = missing ?? `${payload.type.name} {${parameter}} does not exist.`;
  return new ProblemError('NOT_FOUND', filler(message)(path));
}

/** Responds to a GET with the body and its ETag, or with 304 if the client already has this body. */
function sendRead(request: FastifyRequest, reply: FastifyReply, body: string): FastifyReply {
  const etag = etagOf(body);
  // Caches must revalidate before each use.
  reply.header('etag', etag).header('cache-control', 'private, no-cache');
  if (isKnown(etag, request.headers['if-none-match'])) return reply.code(304).send();
  return reply.header('content-type', JSON_UTF8).send(body);
}

/** The URL of a link to another page (RFC 8288): the same URL, except that the page starts after `cursor`. */
function linkAfter(path: string, query: RestRequest['query'], cursor: string): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (name !== 'cursor') for (const each of [value].flat()) parameters.append(name, each);
  }
  parameters.append('cursor', cursor);
  return `${path}?${parameters}`;
}
