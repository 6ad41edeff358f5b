// @ts-check
import './key-field.js';
import { answers, askViewer } from './gateway.js';
import { keyChanges } from './key.js';

const HTML = `
  <a class="home" href="/"><img src="/favicon.svg" alt="" width="22" height="22">Petstore Gateway</a>
  <nav aria-label="Explorers">
    <a href="/graphql">Sandbox</a><a href="/graphiql">GraphiQL</a><a href="/docs/rest">REST</a>
  </nav>
  <key-field></key-field>
  <p class="quota" role="status"></p>`;

/** @param {number} count */
const spell = (count) => count.toLocaleString('en');

/** `<explorer-bar>`: links to the other pages, the key, and its remaining quota. */
class ExplorerBar extends HTMLElement {
  connectedCallback() {
    this.innerHTML = HTML;
    this.querySelector(`nav a[href="${location.pathname}"]`)?.setAttribute('aria-current', 'page');
    const quota = /** @type {HTMLElement} */ (this.querySelector('.quota'));
    let plan = '';
    let left = '';
    const show = () => {
      quota.textContent = [plan, left].filter(Boolean).join(' · ');
    };
    const ask = async () => {
      const { viewer, problem = '' } = await askViewer();
      plan = problem || (viewer?.plan ?? '');
      show();
    };
    answers.addEventListener('standing', (event) => {
      const windows = /** @type {CustomEvent<import('./gateway.js').Window[]>} */ (event).detail;
      left = windows
        .map(({ name, remaining, limit }) => `${spell(remaining)} of ${spell(limit)} this ${name}`)
        .join(' · ');
      show();
    });
    keyChanges.addEventListener('change', ask);
    ask();
  }
}

customElements.define('explorer-bar', ExplorerBar);
