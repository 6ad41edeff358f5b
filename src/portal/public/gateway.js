// @ts-check
import { hasToken, keyHeaders } from './key.js';
import { inUtc } from './times.js';

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
 * Like `fetch`. If a request to this server has no key or token, adds the key or token of this tab.
 * @param {RequestInfo | URL} url
 * @param {RequestInit} [options]
 */
export async function call(url, options = {}) {
  const headers = new Headers(options.headers);
  const isHere = new URL(url instanceof Request ? url.url : url, location.href).origin === location.origin;
  if (isHere && !headers.has('x-api-key') && !headers.has('authorization'))
    for (const [name, value] of Object.entries(keyHeaders())) headers.set(name, value);
  const response = await fetch(url, { ...options, headers });
  showStanding(response.status, response.headers);
  return response;
}

/**
 * Passes the windows in a response's headers to the listeners. With a rejected key, they would be the windows of the client's
 * address.
 * @param {number} status
 * @param {Headers} headers
 */
export function showStanding(status, headers) {
  const windows = status === 401 ? [] : windowsOf(headers);
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

/**
 * @typedef {{ plan: string, scopes: string[], user: string | null, apiKey: { name: string } | null }} Viewer
 * @typedef {object} Problem why the gateway does not accept requests of this tab
 * @property {string} title
 * @property {string} text
 * @property {number} retryAt when to try again, in milliseconds since the Unix epoch; infinite for a rejected key or token
 */

/** The title of a problem, by the code of the error. @type {Record<string, string>} */
const TITLES = {
  KEY_BANNED: 'Banned',
  RATE_LIMITED: 'Too many requests',
  SERVICE_UNAVAILABLE: 'Unavailable',
};

/** Seconds until the next attempt after a problem without `Retry-After`. */
const RETRY_SECONDS = 5;

/**
 * Queries the caller that the key or token of this tab identifies. The query uses no quota.
 * @returns {Promise<{ viewer: Viewer, problem?: undefined } | { viewer?: undefined, problem: Problem }>}
 */
export async function askViewer() {
  /** @param {string} title @param {string} text @param {number} seconds */
  const failed = (title, text, seconds) => ({ problem: { title, text, retryAt: Date.now() + seconds * 1000 } });
  try {
    const response = await graphql('{ viewer { plan scopes user apiKey { name } } }');
    const { data, errors } = await response.json();
    if (data?.viewer) return { viewer: data.viewer };
    const { message, extensions } = errors[0];
    // A rejected key is not sent again, since each request with it counts against the client's address.
    const seconds = response.status === 401 ? Number.POSITIVE_INFINITY : Number(response.headers.get('retry-after'));
    // The page itself shows how long the caller has to wait, and counts down.
    const text = inUtc(message.replace(/ Try again in \d+ seconds?\.$/, ''));
    const rejected = hasToken() ? 'Token rejected' : 'Key rejected';
    const title = extensions.code === 'UNAUTHENTICATED' ? rejected : TITLES[extensions.code];
    return failed(title ?? 'Rejected', text, seconds || RETRY_SECONDS);
  } catch {
    // Also if a proxy responds instead of the gateway, with content other than JSON.
    return failed('No response', 'The server does not respond.', RETRY_SECONDS);
  }
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
