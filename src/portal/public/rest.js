// @ts-check
import { byId } from './elements.js';
import { showProgram } from './explorer.js';
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

/** The hashes of Swagger UI (`#/Pets/getPet`) by the ids of the operations. The guides link to `#getPet`. @type {Map<string, string>} */
const hashes = new Map();

/** Converts the hash of a guide's link into Swagger UI's. */
function convertHash() {
  const hash = hashes.get(location.hash.slice(1));
  if (hash) history.replaceState(null, '', hash);
}

/** @type {any} */
let ui;
showProgram(async () => {
  const response = await fetch('/openapi.json');
  if (!response.ok) throw new Error(`The status of /openapi.json is ${response.status}.`);
  const spec = await response.json();
  for (const { responses } of [spec.components, ...Object.values(spec.paths).flatMap(Object.values)])
    for (const [status, response] of Object.entries(responses ?? {})) shorten(response, status);
  for (const item of Object.values(spec.paths))
    for (const { operationId, tags } of Object.values(item)) hashes.set(operationId, `#/${tags?.[0]}/${operationId}`);
  convertHash();
  ui = SwaggerUIBundle({
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
  addEventListener('hashchange', () => {
    convertHash();
    // Swagger UI itself reads the hash only when it starts.
    ui.layoutActions.parseDeepLinkHash(location.hash);
  });
});

// Swagger UI handles clicks on all links whose address is a hash, so that the browser does not move the focus.
document.querySelector('.skip')?.addEventListener('click', (event) => {
  event.preventDefault();
  byId('content').tabIndex = -1;
  byId('content').focus();
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
