import type { FormattedExecutionResult } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { ErrorCode } from '../errors/codes';
import { acceptedType, JSON_UTF8 } from '../rest/media-types';

const RESPONSE_TYPE = 'application/graphql-response+json; charset=utf-8';
const MAX_KNOWN = 100;

/** Codes of errors in a document or its variables. */
const DOCUMENT_ERRORS: readonly unknown[] = [
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'OPERATION_TOO_COMPLEX',
  'BAD_USER_INPUT',
] satisfies ErrorCode[];

/** Whether the client prefers HTML to JSON, as a browser does when it opens a page. */
export function prefersPage(accept: string | undefined): boolean {
  return acceptedType(accept, [JSON_UTF8, RESPONSE_TYPE, 'text/html']) === 'text/html';
}

/** Caches the negotiated media type for each `Accept` header. Most clients send one of a few common values. */
const known = new LRUCache<string, { readonly type: string | undefined }>({ max: MAX_KNOWN });

/**
 * The media type of a GraphQL response for this `Accept` (GraphQL over HTTP, section 6.4); `undefined` if none is
 * acceptable. Apollo would choose the same media type.
 */
export function responseType(accept: string | undefined): string | undefined {
  if (!accept) return JSON_UTF8;
  const before = known.get(accept);
  if (before) return before.type;
  const type = acceptedType(accept, [JSON_UTF8, RESPONSE_TYPE]);
  known.set(accept, { type });
  return type;
}

/**
 * The HTTP status of a GraphQL response for this `Accept`. A client that accepts only `application/json` gets 200 for errors
 * in its document (GraphQL over HTTP, section 6.4.1). Such a client would attribute any other status to an intermediary, and
 * would not read the body as GraphQL. All other responses keep the status of the error.
 * @param body the response, as an object or as JSON text.
 */
export function statusFor(accept: string | undefined, status: number, body: FormattedExecutionResult | string): number {
  if (status !== 400 || acceptedType(accept, [RESPONSE_TYPE])) return status;
  const { errors } = typeof body === 'string' ? (JSON.parse(body) as FormattedExecutionResult) : body;
  return errors?.every(({ extensions }) => DOCUMENT_ERRORS.includes(extensions?.code)) ? 200 : status;
}
