// @ts-check
/**
 * The API key, or the token of an end user, of this tab. It is kept only in sessionStorage, so other tabs cannot read it, and it
 * is deleted when the tab is closed. If the browser blocks the storage, it is kept until the user leaves the page. It is sent
 * only to this server.
 */

const ITEM = 'petstore-api-key';
const FORM = /^ps_[0-9a-z]{12}_[0-9A-Za-z]{32}$/;
/** A JSON Web Token: three parts in base64url, with dots. */
const TOKEN_FORM = /^[\w-]+\.[\w-]+\.[\w-]*$/;
const ID_LENGTH = 12;
const SECRET_LENGTH = 32;

/** Dispatches the event `change` when the key has changed. */
export const keyChanges = new EventTarget();

/** The key or token, if it cannot be stored. */
let unstored = '';

/** @returns {string} the key or token, or an empty string */
export function currentKey() {
  return storage()?.getItem(ITEM) ?? unstored;
}

/** The session storage of this tab; null if the browser blocks it. */
export function storage() {
  try {
    return sessionStorage;
  } catch {
    return null;
  }
}

/** @param {string} key */
function store(key) {
  unstored = key;
  storage()?.removeItem(ITEM);
  try {
    if (key) storage()?.setItem(ITEM, key);
  } catch {
    // The storage is full.
  }
}

/** Whether the tab has a token instead of a key. */
export function hasToken() {
  return TOKEN_FORM.test(currentKey());
}

/** @returns {Record<string, string>} the request headers with the key or token; empty without one */
export function keyHeaders() {
  const key = currentKey();
  if (!key) return {};
  return hasToken() ? { authorization: `Bearer ${key}` } : { 'x-api-key': key };
}

/**
 * Sets the key of this tab.
 * @param {string} key a full key, or a token; an empty string removes the current key
 * @returns {string} what is wrong with the key's format; empty if the key was set
 */
export function setKey(key) {
  const trimmed = key.trim();
  const fault = trimmed && faultOf(trimmed);
  if (fault) return fault;
  store(trimmed);
  keyChanges.dispatchEvent(new Event('change'));
  return '';
}

/**
 * @param {string} key @returns {string} what is wrong with the key's format, as a text for the user; empty if it is valid
 */
export function faultOf(key) {
  if (FORM.test(key) || TOKEN_FORM.test(key)) return '';
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
  return 'It has invalid characters. A key id has only lower-case letters and digits; a secret has only letters and digits.';
}
