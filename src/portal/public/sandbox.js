// @ts-check
import './explorer-bar.js';
import { exampleDocument } from './examples.js';
import { call, live } from './gateway.js';

const SCRIPT = 'https://embeddable-sandbox.cdn.apollographql.com/v2/embeddable-sandbox.umd.production.min.js';
/** How long Apollo's servers may take. Where packets to them are dropped, a browser would wait for minutes. */
const PATIENCE_MS = 8000;
const explorer = /** @type {HTMLElement} */ (document.getElementById('explorer'));

try {
  await load(SCRIPT, PATIENCE_MS);
  await embed();
} catch {
  await showGraphiql();
}

/** Requests are sent from here, not from Apollo's frame, which never gets the key. */
async function embed() {
  const document = await exampleDocument();
  explorer.replaceChildren();
  new /** @type {any} */ (window).EmbeddedSandbox({
    target: explorer,
    initialEndpoint: new URL('/graphql', location.href).href,
    initialSubscriptionEndpoint: live,
    endpointIsEditable: false,
    initialState: { document, includeCookies: false },
    handleRequest: call,
    runTelemetry: false,
    allowDynamicStyles: false,
  });
}

/** GraphiQL in its place, which is served from here. */
async function showGraphiql() {
  const why = document.createElement('p');
  why.className = 'explorer-why';
  why.setAttribute('role', 'status');
  why.textContent =
    'This is GraphiQL, served from here: Apollo’s servers, from which Sandbox would be loaded, cannot be reached from this network.';
  explorer.before(why);
  explorer.replaceChildren();
  const style = document.createElement('link');
  style.rel = 'stylesheet';
  style.href = here('vendor/graphiql.css');
  // The styles of this page come after it.
  document.head.prepend(style);
  for (const name of ['react', 'react-dom', 'graphiql']) await load(here(`vendor/${name}.js`));
  await import('./graphiql.js');
}

/** @param {string} name */
function here(name) {
  return new URL(name, import.meta.url).href;
}

/**
 * @param {string} src
 * @param {number} [patienceMs] after which it is given up
 * @returns {Promise<void>}
 */
function load(src, patienceMs) {
  const script = document.createElement('script');
  script.src = src;
  return new Promise((resolve, reject) => {
    script.addEventListener('load', () => resolve());
    script.addEventListener('error', () => reject(new Error(src)));
    if (patienceMs) {
      setTimeout(() => {
        script.remove();
        reject(new Error(src));
      }, patienceMs);
    }
    document.head.append(script);
  });
}
