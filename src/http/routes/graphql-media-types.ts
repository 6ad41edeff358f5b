import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';

const JSON_TYPE = 'application/json; charset=utf-8';
const RESPONSE_TYPE = 'application/graphql-response+json; charset=utf-8';
const MAX_KNOWN = 100;

/** Whether the client prefers HTML to everything else that `/graphql` offers, as a browser opening a page does. */
export function prefersPage(accept: string | undefined): boolean {
  if (!accept?.includes('text/html')) return false;
  const types = [JSON_TYPE, RESPONSE_TYPE, 'text/html'];
  return new Negotiator({ headers: { accept } }).mediaType(types) === 'text/html';
}

/** Results by `Accept`: a client sends the same one with every request, and there are few different clients. */
const known = new LRUCache<string, { readonly type: string | undefined }>({ max: MAX_KNOWN });

/**
 * The media type of a GraphQL response for this `Accept` (GraphQL over HTTP, section 6.4), chosen as Apollo does;
 * `undefined` if none is acceptable.
 */
export function answerType(accept: string | undefined): string | undefined {
  if (accept === undefined) return JSON_TYPE;
  const before = known.get(accept);
  if (before) return before.type;
  const type = new Negotiator({ headers: { accept } }).mediaType([JSON_TYPE, RESPONSE_TYPE]);
  known.set(accept, { type });
  return type;
}
