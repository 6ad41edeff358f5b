// @ts-check

/** How many places are shown. */
const SHOWN = 12;
/** How much of a place's text is shown, in characters. */
const EXCERPT = 160;
/** How much less a place counts that others are to be found before. */
const LAST = 0.2;

/** @typedef {{ id: number, kind: string, title: string, within: string, text: string, href: string, terms: string[] }} Found */

const dialog = /** @type {HTMLDialogElement} */ (document.getElementById('search'));
const input = /** @type {HTMLInputElement} */ (document.getElementById('search-words'));
const list = /** @type {HTMLElement} */ (document.getElementById('search-found'));
const status = /** @type {HTMLElement} */ (document.getElementById('search-status'));

/** @type {Promise<(words: string) => Found[]> | undefined} */
let loading;

/** Opens the search; what it searches is loaded the first time. */
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
    storeFields: ['kind', 'title', 'within', 'text', 'href', 'last'],
    // Names such as REQUEST_TIMEOUT_MS, If-Match and X-RateLimit-Reset are found by their parts and as a whole.
    tokenize: (/** @type {string} */ text) =>
      text.match(/[\p{L}\p{N}]+(?:[-_.][\p{L}\p{N}]+)*/gu)?.flatMap(parts) ?? [],
    searchOptions: {
      boost: { title: 4, also: 4, within: 1.5 },
      boostDocument: (/** @type {number} */ _id, /** @type {string} */ _term, /** @type {any} */ { last }) =>
        last ? LAST : 1,
      prefix: true,
      fuzzy: 0.15,
    },
  });
  index.addAll(places.map((place, id) => ({ id, ...place })));
  return (/** @type {string} */ words) => {
    const withAll = index.search(words, { combineWith: 'AND' });
    return (withAll.length ? withAll : index.search(words)).slice(0, SHOWN);
  };
}

/** @param {string} word */
function parts(word) {
  const within = word.split(/[-_.]/);
  return within.length > 1 ? [word, ...within] : within;
}

input.addEventListener('input', async () => {
  const words = input.value.trim();
  const search = await loading?.catch(() => undefined);
  if (!search || words !== input.value.trim()) return;
  const found = words ? search(words) : [];
  list.replaceChildren(...found.map(entry));
  status.textContent = words ? said(found.length) : '';
});

/** @param {number} count */
function said(count) {
  if (!count) return 'Nothing found.';
  return count === 1 ? 'One place' : count < SHOWN ? `${count} places` : `The first ${SHOWN} places`;
}

/** The arrows go from the words to what was found and back; Enter opens the first. */
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
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.href = href;
  link.append(
    element('span', 'kind', [kind]),
    element('strong', '', marked(title, terms)),
    element('span', 'within', [within]),
    element('span', 'text', marked(excerpt(text, terms), terms)),
  );
  item.append(link);
  return item;
}

/**
 * The part of a text around the first word that was found.
 * @param {string} text
 * @param {string[]} terms
 */
function excerpt(text, terms) {
  const at = text.toLowerCase().search(pattern(terms));
  const start = at > EXCERPT / 2 ? text.indexOf(' ', at - EXCERPT / 2) + 1 : 0;
  const end = start + EXCERPT;
  return `${start ? '… ' : ''}${text.slice(start, end)}${end < text.length ? ' …' : ''}`;
}

/**
 * @param {string} text
 * @param {string[]} terms
 */
function marked(text, terms) {
  return text.split(pattern(terms)).map((part, index) => (index % 2 ? element('mark', '', [part]) : part));
}

/** @param {string[]} terms */
function pattern(terms) {
  const longestFirst = [...terms].sort((a, b) => b.length - a.length);
  return new RegExp(`(${longestFirst.map((term) => term.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')})`, 'iu');
}

/**
 * @param {string} name
 * @param {string} className
 * @param {(string | Node)[]} content
 */
function element(name, className, content) {
  const node = document.createElement(name);
  if (className) node.className = className;
  node.append(...content);
  return node;
}
