import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';

const JSON_TYPE = 'application/json; charset=utf-8';
const RESPONSE_TYPE = 'application/graphql-response+json; charset=utf-8';
const MAX_KNOWN = 100;

/** Whether HTML is what a client likes best of all that `/graphql` has: whether it is a browser that shows a page. */
export function prefersPage(accept: string | undefined): boolean {
  if (!accept?.includes('text/html')) return false;
  const types = [JSON_TYPE, RESPONSE_TYPE, 'text/html'];
  return new Negotiator({ headers: { accept } }).mediaType(types) === 'text/html';
}

/** A client sends the same `Accept` with every request, and there are few clients: each is read once. */
const known = new LRUCache<string, { readonly type: string | undefined }>({ max: MAX_KNOWN });

/**
 * The media type that a GraphQL answer has for this `Accept` (GraphQL over HTTP, section 6.4), as Apollo chooses it;
 * `undefined` where none will do.
 */
export function answerType(accept: string | undefined): string | undefined {
  if (accept === undefined) return JSON_TYPE;
  const before = known.get(accept);
  if (before) return before.type;
  const type = new Negotiator({ headers: { accept } }).mediaType([JSON_TYPE, RESPONSE_TYPE]);
  known.set(accept, { type });
  return type;
}
