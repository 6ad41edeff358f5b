import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PreparedOperation } from '../prepared-operation';
import type { RestRequest } from '../requests/rest-request';
import { etagOf, isKnown } from './entity-tag';

export const JSON_TYPE = 'application/json; charset=utf-8';

interface Page {
  readonly nodes: readonly unknown[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

/** Sends the response of a successful operation. @param result the value of its root field. */
export function answer(
  operation: PreparedOperation,
  result: unknown,
  request: RestRequest,
  reply: FastifyReply,
): FastifyReply {
  const { ok, path, payload, write } = operation;
  if (ok === 204) return reply.code(204).send();
  if (operation.method === 'GET') {
    if (!payload.isPage) return sendRead(request, reply, write(result), JSON_TYPE);
    const { nodes, pageInfo } = result as Page;
    if (pageInfo.hasNextPage && pageInfo.endCursor !== null)
      reply.header('link', nextLink(path, request.query, pageInfo.endCursor));
    return sendRead(request, reply, write(nodes), JSON_TYPE);
  }
  if (ok === 201) reply.header('location', `${path}/${(result as { id: string }).id}`);
  const body = write(result);
  return reply.code(ok).header('etag', etagOf(body)).header('content-type', JSON_TYPE).send(body);
}

/** Responds to a read with its ETag, or with 304 if the client already has this body. */
export function sendRead(request: FastifyRequest, reply: FastifyReply, body: string, type: string): FastifyReply {
  const etag = etagOf(body);
  // Caches must revalidate before each use.
  reply.header('etag', etag).header('cache-control', 'private, no-cache');
  if (isKnown(etag, request.headers['if-none-match'])) return reply.code(304).send();
  return reply.header('content-type', type).send(body);
}

/** The `Link` to the page after `cursor` (RFC 8288), with all other parameters unchanged. */
function nextLink(path: string, query: RestRequest['query'], cursor: string): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (name !== 'cursor') for (const each of [value].flat()) parameters.append(name, each);
  }
  parameters.append('cursor', cursor);
  return `<${path}?${parameters}>; rel="next"`;
}
