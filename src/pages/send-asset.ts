import type { FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';
import { isKnown } from '../rest/responses/entity-tag';
import type { Asset } from './assets';
import { varyBy } from './page';

/** Sends a file, compressed if the client takes that; 304 if it has it already, 404 if there is none. */
export async function sendAsset(
  { raw, headers }: FastifyRequest,
  reply: FastifyReply,
  asset: Asset | undefined,
  cacheControl: string,
): Promise<FastifyReply> {
  if (!asset) {
    reply.callNotFound();
    return reply;
  }
  reply.headers({
    'cache-control': cacheControl,
    'cross-origin-resource-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
  });
  varyBy(reply, 'accept-encoding');
  if (asset.etag) {
    reply.header('etag', asset.etag);
    if (isKnown(asset.etag, headers['if-none-match'])) return reply.code(304).send();
  }
  const takesGzip = new Negotiator(raw).encoding(['gzip', 'identity']) === 'gzip';
  if (takesGzip) reply.header('content-encoding', 'gzip');
  return reply.type(asset.type).send(takesGzip ? await asset.gzipped() : asset.body);
}
