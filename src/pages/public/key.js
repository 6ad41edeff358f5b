// @ts-check
/**
 * The API key of this tab. It is kept in sessionStorage alone: no other tab sees it, it goes with the tab, and it is sent
 * to this server only.
 */

const ITEM = 'petstore-api-key';
const FORM = /^ps_[0-9a-z]{12}_[0-9A-Za-z]{32}$/;

/** Fires `change` when the key has changed. */
export const keyChanges = new EventTarget();

/** @returns {string} the key, or nothing */
export function currentKey() {
  return sessionStorage.getItem(ITEM) ?? '';
}

/** @param {string} key a whole key; empty forgets it. @returns {boolean} whether it has the form of a key */
export function setKey(key) {
  const trimmed = key.trim();
  if (trimmed && !FORM.test(trimmed)) return false;
  if (trimmed) sessionStorage.setItem(ITEM, trimmed);
  else sessionStorage.removeItem(ITEM);
  keyChanges.dispatchEvent(new Event('change'));
  return true;
}
