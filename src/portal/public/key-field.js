// @ts-check
import { currentKey, keyChanges, setKey } from './key.js';

const HTML = `
  <form class="key-form">
    <label for="api-key">API key</label>
    <input id="api-key" type="password" autocomplete="off" spellcheck="false" placeholder="ps_… (or none)"
      aria-describedby="api-key-note">
    <button type="submit">Use</button>
    <button type="button" hidden>Forget</button>
  </form>
  <p id="api-key-note" class="key-note" role="status"></p>`;

const KEPT = 'Kept only in this tab’s session storage until the tab is closed, and sent only to this server.';

/** `<key-field>`: the input for the API key of this tab. */
class KeyField extends HTMLElement {
  connectedCallback() {
    this.innerHTML = HTML;
    const form = /** @type {HTMLFormElement} */ (this.querySelector('form'));
    const input = /** @type {HTMLInputElement} */ (this.querySelector('input'));
    const forget = /** @type {HTMLButtonElement} */ (this.querySelector('button[type=button]'));
    const note = /** @type {HTMLElement} */ (this.querySelector('p'));

    const show = () => {
      input.value = currentKey();
      input.removeAttribute('aria-invalid');
      forget.hidden = !input.value;
      note.textContent = KEPT;
      delete note.dataset.state;
    };
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      const fault = setKey(input.value);
      if (!fault) return;
      input.setAttribute('aria-invalid', 'true');
      note.textContent = fault;
      note.dataset.state = 'bad';
    });
    forget.addEventListener('click', () => setKey(''));
    keyChanges.addEventListener('change', show);
    show();
  }
}

customElements.define('key-field', KeyField);
