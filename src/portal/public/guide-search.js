// @ts-check
import { byId, html, inputOf, render } from './elements.js';

/** Maximum number of results shown. */
const SHOWN = 12;
/** The length of the excerpt of a result, in characters. */
const EXCERPT = 160;

/** @typedef {{ id: number, kind: string, title: string, within: string, text: string, href: string, terms: string[] }} Found */

const dialog = /** @type {HTMLDialogElement} */ (byId('search'));
const input = inputOf('search-words');
const list = byId('search-found');
const status = byId('search-status');

/** @type {Promise<(words: string) => Found[]> | undefined} */
let loading;

/** Opens the search. The first time, it also loads the index. */
export function openSearch() {
  loading ??= load();
  loading.catch(() => {
    loading = undefined;
    status.textContent = 'The search could not be loaded. Open it again to retry.';
  });
  if (!dialog.open) dialog.showModal();
  input.select();
}

async function load() {
  const library = new URL('vendor/minisearch.js', import.meta.url).href;
  const [{ default: MiniSearch }, response] = await Promise.all([import(library), fetch('/docs/search.json')]);
  /** @type {Omit<Found, 'id'>[]} */
  const places = await response.json();
  const index = new MiniSearch({
    fields: ['title', 'within', 'text', 'also'],
    storeFields: ['kind', 'title', 'within', 'text', 'href'],
    // Indexes names such as REQUEST_TIMEOUT_MS and If-Match both as a whole and by their parts.
    tokenize: (/** @type {string} */ text) =>
      text.match(/[\p{L}\p{N}]+(?:[-_.][\p{L}\p{N}]+)*/gu)?.flatMap((word) => {
        const parts = word.split(/[-_.]/);
        return parts.length > 1 ? [word, ...parts] : parts;
      }) ?? [],
    searchOptions: { boost: { title: 4, also: 4, within: 1.5 }, prefix: true, fuzzy: 0.15 },
  });
  index.addAll(places.map((place, id) => ({ id, ...place })));
  return (/** @type {string} */ words) => {
    const withAll = index.search(words, { combineWith: 'AND' });
    return (withAll.length ? withAll : index.search(words)).slice(0, SHOWN);
  };
}

input.addEventListener('input', async () => {
  const words = input.value.trim();
  const search = await loading?.catch(() => undefined);
  if (!search || words !== input.value.trim()) return;
  const found = words ? search(words) : [];
  render(list, found.map(entry));
  status.textContent = words ? summaryOf(found.length) : '';
});

/** @param {number} count */
function summaryOf(count) {
  if (!count) return 'No results';
  return count === 1 ? '1 result' : count < SHOWN ? `${count} results` : `The first ${SHOWN} results`;
}

/** The arrow keys move between the input and the links. Enter in the input opens the first link. */
dialog.addEventListener('keydown', (event) => {
  const links = [...list.querySelectorAll('a')];
  const focused = /** @type {HTMLAnchorElement} */ (document.activeElement);
  const at = links.indexOf(focused);
  if (event.key === 'ArrowDown') links[Math.min(at + 1, links.length - 1)]?.focus();
  else if (event.key === 'ArrowUp') (links[at - 1] ?? input).focus();
  else if (event.key === 'Enter' && at === -1) links[0]?.click();
  else return;
  event.preventDefault();
});

list.addEventListener('click', () => dialog.close());
dialog.addEventListener('click', (event) => {
  if (event.target === dialog) dialog.close();
});

/** @param {Found} place */
function entry({ kind, title, within, text, href, terms }) {
  const longestFirst = [...terms].sort((a, b) => b.length - a.length);
  const escaped = longestFirst.map((term) => term.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const pattern = new RegExp(`(${escaped.join('|')})`, 'iu');
  /** @param {string} string */
  const marked = (string) =>
    string.split(pattern).map((part, index) => (index % 2 ? html`<mark>${part}</mark>` : part));
  return html`<li><a class="soft" href="${href}"><span class="tag">${kind}</span><strong>${marked(title)}</strong>
    <span>${within}</span><p>${marked(excerptOf(text, pattern))}</p></a></li>`;
}

/** The part of a text around the first match. @param {string} text @param {RegExp} pattern */
function excerptOf(text, pattern) {
  const at = text.search(pattern);
  const start = at > EXCERPT / 2 ? text.indexOf(' ', at - EXCERPT / 2) + 1 : 0;
  const end = start + EXCERPT;
  return `${start ? '… ' : ''}${text.slice(start, end)}${end < text.length ? ' …' : ''}`;
}
