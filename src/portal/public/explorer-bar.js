// @ts-check
import './key-field.js';
import './site.js';
import { answers, askViewer } from './gateway.js';
import { keyChanges } from './key.js';

const HTML = `
  <key-field></key-field>
  <p class="quota" role="status"></p>`;

/** `<explorer-bar>`: adds the key and its remaining quota to the links that it has. */
class ExplorerBar extends HTMLElement {
  connectedCallback() {
    this.insertAdjacentHTML('beforeend', HTML);
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
      // Of the window in force, as in the headers.
      const [first] = [...windows].sort((a, b) => a.remaining - b.remaining);
      left = first ? `${first.remaining.toLocaleString('en')} left this ${first.name}` : '';
      show();
    });
    keyChanges.addEventListener('change', ask);
    ask();
  }
}

customElements.define('explorer-bar', ExplorerBar);
