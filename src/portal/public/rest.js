// @ts-check
import './explorer.js';
import { showStanding } from './gateway.js';
import { currentKey, keyChanges } from './key.js';

// From the script loaded before this one.
const { SwaggerUIBundle } = /** @type {any} */ (window);

const dark = matchMedia('(prefers-color-scheme: dark)');
const showScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', showScheme);
showScheme();

const spec = await (await fetch('/openapi.json')).json();

// Links to an operation by its id alone become those of Swagger UI, which also have its tag: `#/Pets/getPet`.
const id = location.hash.slice(1);
for (const item of Object.values(spec.paths))
  for (const { operationId, tags } of Object.values(item))
    if (operationId === id) history.replaceState(null, '', `#/${tags[0]}/${id}`);
// Swagger UI reads the hash only when it starts.
addEventListener('hashchange', () => location.reload());

const ui = SwaggerUIBundle({
  dom_id: '#content',
  spec,
  deepLinking: true,
  // No badge from another server.
  validatorUrl: null,
  defaultModelsExpandDepth: 0,
  onComplete: () => authorize(),
  responseInterceptor: (/** @type {{ headers: Record<string, string> }} */ response) => {
    showStanding(new Headers(response.headers));
    return response;
  },
});

let isAuthorized = false;

/** Authorizes Swagger UI with the key of this tab. */
function authorize() {
  const key = currentKey();
  if (key) ui.preauthorizeApiKey('apiKey', key);
  else if (isAuthorized) ui.authActions.logout(['apiKey']);
  isAuthorized = key !== '';
}
keyChanges.addEventListener('change', authorize);
