import type { FastifyReply } from 'fastify';
import { Assets } from './assets';

/** What a page may load, by directive of the Content-Security-Policy; anything else is not allowed. */
export type Policy = Readonly<Record<string, readonly string[]>>;

/** An HTML page with its headers, ready to be sent. */
export interface Page {
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
}

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
const GRAPHIQL: Policy = { ...OWN, 'font-src': ['data:'] };

/** Sandbox is a script and a frame from Apollo; its requests are sent by our page, to this server. */
const SANDBOX: Policy = {
  ...OWN,
  'script-src': ["'self'", 'https://embeddable-sandbox.cdn.apollographql.com'],
  'frame-src': ['https://sandbox.embed.apollographql.com'],
};

/** The headers of a page: its policy, and those that isolate it from other sites. */
export function pageHeaders(policy: Policy): Record<string, string> {
  return {
    'content-security-policy': Object.entries(policy)
      .map(([directive, sources]) => [directive, ...sources].join(' '))
      .join('; '),
    'cross-origin-opener-policy': 'same-origin-allow-popups',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  };
}

/** Adds a header to `Vary`. */
export function varyBy(reply: FastifyReply, header: string): void {
  const given = reply.getHeader('vary');
  reply.header('vary', given ? `${given}, ${header}` : header);
}

/** Sends a page; browsers revalidate it each time, so that it links to the current assets. */
export function sendPage(reply: FastifyReply, { html, headers }: Page): FastifyReply {
  return reply.headers(headers).header('cache-control', 'no-cache').type('text/html; charset=utf-8').send(html);
}

/** The pages, and what they load. */
export interface Pages {
  readonly assets: Assets;
  readonly start: Page;
  readonly graphiql: Page;
  readonly sandbox: Page;
}

/** Reads all pages, once. @throws Error if a file is missing. */
export function readPages(): Pages {
  const assets = new Assets();
  const page = (name: string, policy: Policy): Page => ({ html: assets.page(name), headers: pageHeaders(policy) });
  return {
    assets,
    start: page('start.html', OWN),
    graphiql: page('graphiql.html', GRAPHIQL),
    sandbox: page('sandbox.html', SANDBOX),
  };
}
