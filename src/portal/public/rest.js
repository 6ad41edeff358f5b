// @ts-check
import './explorer.js';
import { showStanding } from './gateway.js';
import { currentKey, hasToken, keyChanges } from './key.js';

// The script that the page loads before this script defines this global.
const { SwaggerUIBundle } = /** @type {any} */ (window);

/** Headers of every response. The description of the document explains the limits and the errors. */
const COMMON_HEADERS = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit',
  'RateLimit-Policy',
  'X-Request-Id',
  'Access-Control-Allow-Origin',
];

const dark = matchMedia('(prefers-color-scheme: dark)');
const showScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', showScheme);
showScheme();

const spec = await (await fetch('/openapi.json')).json();
for (const { responses } of [spec.components, ...Object.values(spec.paths).flatMap(Object.values)])
  for (const [status, response] of Object.entries(responses ?? {})) shorten(response, status);

/**
 * Leaves out of a response what is the same for all operations: the headers that every response has, and of errors also the
 * example, which only the status 400 keeps. Otherwise an open operation would fill ten screens.
 * @param {{ headers?: Record<string, unknown>, content?: object }} response
 * @param {string} status an HTTP status, or the name of an error response that operations share
 */
function shorten(response, status) {
  for (const name of COMMON_HEADERS) delete response.headers?.[name];
  if (status.startsWith('2')) return;
  delete response.headers;
  if (status !== '400' && status !== 'BadRequest') delete response.content;
}

// The guides link to an operation by its id (`#getPet`). Swagger UI needs the tag as well (`#/Pets/getPet`), so the hash is
// converted.
const id = location.hash.slice(1);
for (const item of Object.values(spec.paths))
  for (const { operationId, tags } of Object.values(item))
    if (operationId === id) history.replaceState(null, '', `#/${tags[0]}/${id}`);
// Swagger UI reads the hash only when it starts, so a link within the page needs a reload.
addEventListener('hashchange', () => location.reload());

const ui = SwaggerUIBundle({
  dom_id: '#content',
  spec,
  deepLinking: true,
  // Without this, Swagger UI would load a validation badge from another server.
  validatorUrl: null,
  defaultModelsExpandDepth: 0,
  onComplete: () => authorize(),
  responseInterceptor: (/** @type {{ status: number, headers: Record<string, string> }} */ response) => {
    showStanding(response.status, new Headers(response.headers));
    return response;
  },
});

/** The security scheme with which Swagger UI sends the key or token. @type {'apiKey' | 'bearer' | undefined} */
let scheme;

/** Makes Swagger UI send the key or token of this tab, or nothing if the tab has none. */
function authorize() {
  if (scheme) ui.authActions.logout([scheme]);
  const key = currentKey();
  scheme = key ? (hasToken() ? 'bearer' : 'apiKey') : undefined;
  if (scheme) ui.preauthorizeApiKey(scheme, key);
}
keyChanges.addEventListener('change', authorize);
