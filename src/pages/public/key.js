// @ts-check
/**
 * The API key of this tab. It is kept only in sessionStorage: no other tab sees it, it is gone when the tab is closed,
 * and it is sent only to this server.
 */

const ITEM = 'petstore-api-key';
const FORM = /^ps_[0-9a-z]{12}_[0-9A-Za-z]{32}$/;

/** Fires `change` when the key has changed. */
export const keyChanges = new EventTarget();

/** @returns {string} the key, or an empty string */
export function currentKey() {
  return sessionStorage.getItem(ITEM) ?? '';
}

/** @param {string} key a whole key; empty removes it. @returns {boolean} whether the key was well-formed or empty */
export function setKey(key) {
  const trimmed = key.trim();
  if (trimmed && !FORM.test(trimmed)) return false;
  if (trimmed) sessionStorage.setItem(ITEM, trimmed);
  else sessionStorage.removeItem(ITEM);
  keyChanges.dispatchEvent(new Event('change'));
  return true;
}
