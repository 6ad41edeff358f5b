// @ts-check
import './explorer-bar.js';
import { exampleDocument } from './examples.js';
import { call, live } from './gateway.js';

const SCRIPT = 'https://embeddable-sandbox.cdn.apollographql.com/v2/embeddable-sandbox.umd.production.min.js';
const explorer = /** @type {HTMLElement} */ (document.getElementById('explorer'));
const progress = /** @type {HTMLElement} */ (document.getElementById('progress'));

const script = document.createElement('script');
script.src = SCRIPT;
script.addEventListener('load', embed);
script.addEventListener('error', () => {
  progress.textContent = 'Apollo’s servers cannot be reached from this network.';
});
document.head.append(script);

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
