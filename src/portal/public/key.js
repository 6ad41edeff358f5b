// @ts-check
/**
 * The API key of this tab. It is kept only in sessionStorage: no other tab sees it, it is gone when the tab is closed,
 * and it is sent only to this server.
 */

const ITEM = 'petstore-api-key';
const FORM = /^ps_[0-9a-z]{12}_[0-9A-Za-z]{32}$/;
const ID_LENGTH = 12;
const SECRET_LENGTH = 32;

/** Fires `change` when the key has changed. */
export const keyChanges = new EventTarget();

/** @returns {string} the key, or an empty string */
export function currentKey() {
  return sessionStorage.getItem(ITEM) ?? '';
}

/** @param {string} key a whole key; empty removes it. @returns {string} what is wrong with its form; empty if nothing is */
export function setKey(key) {
  const trimmed = key.trim();
  const fault = trimmed && faultOf(trimmed);
  if (fault) return fault;
  if (trimmed) sessionStorage.setItem(ITEM, trimmed);
  else sessionStorage.removeItem(ITEM);
  keyChanges.dispatchEvent(new Event('change'));
  return '';
}

/** @param {string} key @returns {string} why it is not of the form of a key, in words; empty if it is */
export function faultOf(key) {
  if (FORM.test(key)) return '';
  return `${reasonOf(key)} A key looks like ps_ypcc3ce37j11_…: “ps_”, ${ID_LENGTH} characters, “_”, ${SECRET_LENGTH} characters.`;
}

/** @param {string} key */
function reasonOf(key) {
  if (/\s/.test(key)) return 'There is white space in it.';
  if (!key.startsWith('ps_')) return 'It does not begin with “ps_”.';
  const [, id = '', secret, ...more] = key.split('_');
  if (secret === undefined) return 'Its secret is missing: this may be only the id.';
  if (more.length) return 'It has more than two “_”.';
  if (id.length !== ID_LENGTH) return `Its id has ${id.length} characters instead of ${ID_LENGTH}.`;
  if (secret.length !== SECRET_LENGTH) return `Its secret has ${secret.length} characters instead of ${SECRET_LENGTH}.`;
  return 'It has characters that no key has; an id has lower-case letters and digits only.';
}
