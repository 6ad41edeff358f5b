import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Problem } from '../errors/errors';
import { CONSTANT_HEADERS, VARY } from './common-headers';
import { errorAnswer } from './error-handling';

/** Headers about the content of a response. They are removed when an error replaces the content. */
const CONTENT_HEADERS = ['content-length', 'content-encoding', 'etag', 'last-modified'];
const { 'x-frame-options': FRAME_OPTIONS, 'cache-control': CACHE_CONTROL } = CONSTANT_HEADERS;

/** Replaces a response by an error. @returns the new payload. */
export function replaceResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  rejection: Problem,
): string {
  discard(payload);
  for (const name of CONTENT_HEADERS) reply.removeHeader(name);
  const { status, type, body } = errorAnswer(request, rejection);
  reply.code(status).type(type);
  reply.header('cache-control', CACHE_CONTROL).header('x-frame-options', FRAME_OPTIONS);
  // Publicly cacheable content has a shorter `Vary`. The error depends on the caller, so it needs the full `Vary`.
  if (!String(reply.getHeader('vary')).startsWith(VARY)) reply.header('vary', VARY);
  return JSON.stringify(body);
}

/** Destroys the stream of a payload that will not be sent. Otherwise the stream would stay open. */
export function discard(payload: unknown): void {
  if (payload instanceof Readable) payload.destroy();
}
