// @ts-check
import { keyChanges, setKey } from './key.js';

// The first start of the gateway prints an address `/#key=ps_…`. This script moves the key from the address to the session
// storage. It is the first script of every page, so no other script sees the key in the address.

const PREFIX = '#key=';
let fault = '';

function takeKey() {
  const { hash, href } = location;
  if (!hash.startsWith(PREFIX)) return;
  history.replaceState(null, '', href.slice(0, -hash.length));
  fault = setKey(hash.slice(PREFIX.length));
  if (fault) keyChanges.dispatchEvent(new Event('change'));
}

/** @returns {string} what is wrong with the key that the address had; empty on the next call */
export function faultOfLink() {
  const found = fault;
  fault = '';
  return found;
}

takeKey();
addEventListener('hashchange', takeKey);
