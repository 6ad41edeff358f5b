import type { FastifyReply } from 'fastify';
import { etagOf } from '../rest/entity-tags';
import { type Asset, assetOf } from './assets';
import { sendAsset } from './send-asset';

/** The sources that a page may load from, by directive of the Content-Security-Policy. All other sources are forbidden. */
type Policy = Readonly<Record<string, readonly string[]>>;

/** The policy of pages that load everything from this server. */
const OWN: Policy = {
  'default-src': ["'none'"],
  'script-src': ["'self'"],
  'style-src': ["'self'"],
  'img-src': ["'self'"],
  'connect-src': ["'self'"],
  'base-uri': ["'none'"],
  'form-action': ["'none'"],
  'frame-ancestors': ["'none'"],
};

/** GraphiQL needs `data:` fonts, which are in its style sheet. */
export const GRAPHIQL: Policy = { ...OWN, 'font-src': ['data:'] };

/** Swagger UI needs inline styles, and `data:` images for the icons in its style sheet. */
export const SWAGGER_UI: Policy = {
  ...OWN,
  'style-src': ["'self'", "'unsafe-inline'"],
  'img-src': ["'self'", 'data:'],
};

/**
 * Sandbox is a frame from Apollo. The page first checks whether Apollo can be reached. No page allows scripts of other
 * servers, since they could read the key that the tab stores for this origin.
 */
export const SANDBOX: Policy = {
  ...OWN,
  'connect-src': ["'self'", 'https://sandbox.embed.apollographql.com'],
  'frame-src': ['https://sandbox.embed.apollographql.com'],
};

/** The security headers of a page: its Content-Security-Policy, and headers that isolate the page from other sites. */
function headersOf(policy: Policy): Record<string, string> {
  return {
    'content-security-policy': Object.entries(policy)
      .map(([directive, sources]) => [directive, ...sources].join(' '))
      .join('; '),
    'cross-origin-opener-policy': 'same-origin-allow-popups',
    'referrer-policy': 'no-referrer',
  };
}

const HTML = 'text/html; charset=utf-8';

export interface PageOptions {
  readonly policy?: Policy;
  readonly type?: string;
  /** The HTTP status, 200 by default. Pages with a status other than 200 have no ETag. */
  readonly status?: number;
}

/** A page or data file. Its text is created on the first request. Browsers revalidate it before each use. */
export class Page {
  private readonly headers: Readonly<Record<string, string>>;
  private asset: Asset | undefined;

  constructor(
    private readonly make: () => string,
    private readonly options: PageOptions = {},
  ) {
    this.headers = headersOf(options.policy ?? OWN);
  }

  send(reply: FastifyReply): Promise<FastifyReply> {
    const { type = HTML, status = 200 } = this.options;
    if (!this.asset) {
      const text = this.make();
      this.asset = assetOf(type, Buffer.from(text), status === 200 ? etagOf(text) : undefined);
    }
    return sendAsset(reply.code(status).headers(this.headers), this.asset, 'no-cache');
  }
}
