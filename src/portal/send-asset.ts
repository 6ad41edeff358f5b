import type { FastifyReply } from 'fastify';
import Negotiator from 'negotiator';
import { isKnown } from '../rest/entity-tags';
import type { Asset } from './assets';

/**
 * Sends a file, with gzip if the client accepts it. Responds with 304 if the client already has the file, and with 404 if
 * `asset` is `undefined`.
 */
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
  // A publicly cacheable response is the same for every caller, so its `Vary` is short. The response depends on the origin
  // only if CORS_ORIGINS lists origins. Then `Access-Control-Allow-Origin` names the origin of the request.
  const isForAnyOrigin = reply.getHeader('access-control-allow-origin') === '*';
  const vary = cacheControl.startsWith('public') ? (isForAnyOrigin ? '' : 'Origin, ') : `${reply.getHeader('vary')}, `;
  reply.header('vary', `${vary}accept-encoding`);
  const takesGzip = new Negotiator(raw).encoding(['gzip', 'identity']) === 'gzip';
  if (asset.etag) {
    // Each encoding needs its own strong ETag (RFC 9110, section 8.8.3.3).
    const etag = takesGzip ? asset.etag.replace(/"$/, '-gzip"') : asset.etag;
    reply.header('etag', etag);
    if (isKnown(etag, headers['if-none-match'], true)) return reply.code(304).send();
  }
  if (takesGzip) reply.header('content-encoding', 'gzip');
  // For pages, `frame-ancestors` in the Content-Security-Policy replaces this header.
  if (asset.type.startsWith('text/html')) reply.removeHeader('x-frame-options');
  return reply.type(asset.type).send(takesGzip ? await asset.gzipped() : asset.body);
}
