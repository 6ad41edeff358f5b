// @ts-check
import { byId, inputOf } from './elements.js';
import { currentKey, keyChanges, setKey } from './key.js';
import { faultOfLink } from './key-link.js';

const form = byId('key-form');
const input = inputOf('api-key');
const forget = /** @type {HTMLButtonElement} */ (form.querySelector('button[type=button]'));
const note = byId('api-key-note');
const KEPT = note.textContent;

function show() {
  input.value = currentKey();
  forget.disabled = !input.value;
  say(faultOfLink());
}

/** @param {string} fault */
function say(fault) {
  input.setAttribute('aria-invalid', String(fault !== ''));
  note.classList.toggle('bad', fault !== '');
  note.textContent = fault || KEPT;
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  const fault = setKey(input.value);
  if (fault) say(fault);
});
forget.addEventListener('click', () => {
  setKey('');
  // The button is now disabled, and so cannot keep the focus.
  input.focus();
});
keyChanges.addEventListener('change', show);
show();
