import type { FastifyReply } from 'fastify';
import Negotiator from 'negotiator';
import { isKnown } from '../rest/responses/entity-tag';
import type { Asset } from './assets';

/** Sends a file, compressed if the client takes that; 304 if it has it already, 404 if there is none. */
export async function sendAsset(
  reply: FastifyReply,
  asset: Asset | undefined,
  cacheControl: string,
): Promise<FastifyReply> {
  const { raw, headers } = reply.request;
  if (!asset) {
    reply.callNotFound();
    return reply;
  }
  reply.headers({
    'cache-control': cacheControl,
    'cross-origin-resource-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
  });
  const vary = reply.getHeader('vary');
  reply.header('vary', vary ? `${vary}, accept-encoding` : 'accept-encoding');
  if (asset.etag) {
    reply.header('etag', asset.etag);
    if (isKnown(asset.etag, headers['if-none-match'])) return reply.code(304).send();
  }
  const takesGzip = new Negotiator(raw).encoding(['gzip', 'identity']) === 'gzip';
  if (takesGzip) reply.header('content-encoding', 'gzip');
  return reply.type(asset.type).send(takesGzip ? await asset.gzipped() : asset.body);
}
