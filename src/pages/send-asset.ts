import type { FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';
import type { Asset } from './assets';
import { varyBy } from './page';

/** Sends a file, compressed for clients that accept it; 404 if there is none. */
export async function sendAsset(
  { raw }: FastifyRequest,
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
  const takesGzip = new Negotiator(raw).encoding(['gzip', 'identity']) === 'gzip';
  if (takesGzip) reply.header('content-encoding', 'gzip');
  return reply.type(asset.type).send(takesGzip ? await asset.gzipped() : asset.body);
}
