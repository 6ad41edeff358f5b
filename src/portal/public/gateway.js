// @ts-check
import { currentKey } from './key.js';

/** @typedef {{ name: string, limit: number, remaining: number, resetAt: number }} Window a window of the quota; `resetAt` in milliseconds since the Unix epoch */

/** The WebSocket URL for subscriptions. */
export const live = new URL('/graphql', location.href.replace(/^http/, 'ws')).href;

/** @type {((windows: Window[]) => void)[]} */
const listeners = [];

/** @param {(windows: Window[]) => void} listener called after every response with rate-limit headers */
export function onStanding(listener) {
  listeners.push(listener);
}

/**
 * Like `fetch`. If a request to this server has no key, adds the key of this tab.
 * @param {RequestInfo | URL} url
 * @param {RequestInit} [options]
 */
export async function call(url, options = {}) {
  const headers = new Headers(options.headers);
  const isHere = new URL(url instanceof Request ? url.url : url, location.href).origin === location.origin;
  const key = isHere && currentKey();
  if (key && !headers.has('x-api-key') && !headers.has('authorization')) headers.set('x-api-key', key);
  const response = await fetch(url, { ...options, headers });
  showStanding(response.headers);
  return response;
}

/** Passes the windows in a response's headers to the listeners. @param {Headers} headers */
export function showStanding(headers) {
  const windows = windowsOf(headers);
  if (windows.length) for (const listener of listeners) listener(windows);
}

/**
 * Runs a GraphQL operation.
 * @param {string} query
 * @param {object} [variables]
 */
export function graphql(query, variables) {
  return call('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
}

/** @typedef {{ plan: string, scopes: string[], apiKey: { name: string } | null }} Viewer */

/**
 * Queries the caller that the key of this tab identifies. The query uses no quota.
 * @returns {Promise<{ status: number, viewer?: Viewer, problem?: string, retryAfter: number }>} `problem` is the message if
 *   the query was rejected. `retryAfter` is in seconds
 */
export async function askViewer() {
  const response = await graphql('{ viewer { plan scopes apiKey { name } } }');
  const { data, errors } = await response.json();
  return {
    status: response.status,
    viewer: data?.viewer,
    problem: errors?.[0]?.message,
    retryAfter: Number(response.headers.get('retry-after')),
  };
}

/**
 * Parses the quota windows from the headers `RateLimit-Policy` and `RateLimit`.
 * @param {Headers} headers
 * @returns {Window[]}
 */
function windowsOf(headers) {
  const policy = headers.get('ratelimit-policy') ?? '';
  const limits = new Map([...policy.matchAll(/"(\w+)";q=(\d+)/g)].map(([, name, q]) => [name, Number(q)]));
  const left = headers.get('ratelimit') ?? '';
  return [...left.matchAll(/"(\w+)";r=(\d+);t=(\d+)/g)].map(([, name = '', r, t]) => ({
    name,
    limit: limits.get(name) ?? 0,
    remaining: Number(r),
    resetAt: Date.now() + Number(t) * 1000,
  }));
}
