// @ts-check
import { byId } from './elements.js';
import { exampleDocument } from './explorer.js';
import { call, live } from './gateway.js';

const SCRIPT = 'https://embeddable-sandbox.cdn.apollographql.com/v2/embeddable-sandbox.umd.production.min.js';
/**
 * Time limit for loading Sandbox, in milliseconds. Without a limit, a browser behind a firewall that drops packets would
 * wait for minutes.
 */
const TIMEOUT_MS = 8000;
const main = byId('content');

try {
  await load(SCRIPT, TIMEOUT_MS);
  await embed();
} catch {
  await showGraphiql();
}

/**
 * Shows Sandbox in a frame from Apollo. This page sends the frame's requests (`handleRequest`), so the frame never gets the
 * key.
 */
async function embed() {
  const document = await exampleDocument();
  main.replaceChildren();
  new /** @type {any} */ (window).EmbeddedSandbox({
    target: main,
    initialEndpoint: new URL('/graphql', location.href).href,
    initialSubscriptionEndpoint: live,
    endpointIsEditable: false,
    initialState: { document, includeCookies: false },
    handleRequest: call,
    runTelemetry: false,
    allowDynamicStyles: false,
  });
}

/** Shows GraphiQL instead of Sandbox. This server has all files of GraphiQL. */
async function showGraphiql() {
  const reason = document.createElement('p');
  reason.className = 'reason';
  reason.setAttribute('role', 'status');
  reason.textContent = 'This is GraphiQL, served from here: Apollo’s servers, which Sandbox needs, cannot be reached.';
  main.before(reason);
  main.replaceChildren();
  const style = document.createElement('link');
  style.rel = 'stylesheet';
  style.href = here('vendor/graphiql.css');
  // Inserts GraphiQL's styles before the styles of this page, so that the page's styles take precedence.
  document.head.prepend(style);
  for (const name of ['react', 'react-dom', 'graphiql']) await load(here(`vendor/${name}.js`));
  await import('./graphiql.js');
}

/** @param {string} name */
function here(name) {
  return new URL(name, import.meta.url).href;
}

/** @param {string} src @param {number} [timeoutMs] @returns {Promise<void>} */
function load(src, timeoutMs) {
  const script = document.createElement('script');
  script.src = src;
  return new Promise((resolve, reject) => {
    const fail = () => reject(new Error(src));
    script.addEventListener('load', () => resolve());
    script.addEventListener('error', fail);
    if (timeoutMs) setTimeout(fail, timeoutMs);
    document.head.append(script);
  });
}
