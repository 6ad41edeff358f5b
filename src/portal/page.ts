import type { FastifyReply } from 'fastify';
import { etagOf } from '../rest/representation';
import { type Asset, assetOf } from './assets';
import { sendAsset } from './send-asset';

/** What a page may load, by directive of the Content-Security-Policy; anything else is not allowed. */
export type Policy = Readonly<Record<string, readonly string[]>>;

/** The policy of pages that load everything from this server. */
export const OWN: Policy = {
  'default-src': ["'none'"],
  'script-src': ["'self'"],
  'style-src': ["'self'"],
  'img-src': ["'self'"],
  'connect-src': ["'self'"],
  'base-uri': ["'none'"],
  'form-action': ["'none'"],
  'frame-ancestors': ["'none'"],
};

/** GraphiQL's fonts are in its style sheet. */
export const GRAPHIQL: Policy = { ...OWN, 'font-src': ['data:'] };

/** Swagger UI sets inline styles, and its icons are `data:` URLs in its style sheet. */
export const SWAGGER_UI: Policy = {
  ...OWN,
  'style-src': ["'self'", "'unsafe-inline'"],
  'img-src': ["'self'", 'data:'],
};

/** Sandbox is a script and a frame from Apollo; its requests are sent by our page, to this server. GraphiQL may stand in for it. */
export const SANDBOX: Policy = {
  ...GRAPHIQL,
  'script-src': ["'self'", 'https://embeddable-sandbox.cdn.apollographql.com'],
  'frame-src': ['https://sandbox.embed.apollographql.com'],
};

/** The headers of a page in addition to those of all files: its policy, and the headers that isolate it from other sites. */
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
  /** 200 by default. Browsers revalidate no other. */
  readonly status?: number;
}

/** A page or a file of data, made on the first request. Browsers revalidate it on every request. */
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
