// @ts-check
import './key-field.js';
import * as api from './admin-api.js';
import { graceNote, showKeyForm, showRevocation, showRotation, showSecret, showUnban } from './admin-dialogs.js';
import { describeError } from './admin-errors.js';
import { callerItems, changeItems, keyItem } from './admin-keys.js';
import { buttonOf, byId, html, inputOf, render } from './elements.js';
import { askViewer } from './gateway.js';
import { currentKey, keyChanges } from './key.js';
import { spell } from './usage-chart.js';

const TYPING_MS = 250;
/** How long the confirmation of a change is shown, in milliseconds. */
const CONFIRMED_MS = 10_000;
const dialog = byId('dialog');
const toolbar = /** @type {HTMLFormElement} */ (byId('toolbar'));
const search = inputOf('search');
const state = inputOf('state');
const range = inputOf('range');
const changes = /** @type {HTMLDetailsElement} */ (byId('changes'));
const newer = buttonOf('newer');
const older = buttonOf('older');

/**
 * The filters of the list, and the cursors of all pages up to the shown page. The cursor of the first page is null.
 * @typedef {{ search: string, isActive: boolean | null, cursors: (string | null)[] }} Place
 */

/** The place that is shown. */
let place = firstPage();
/** The keys on the current page. @type {api.Key[]} */
let keys = [];
/** The number of the latest query for keys. Results of earlier queries are ignored. */
let asked = 0;

/** @type {ReturnType<typeof setTimeout> | undefined} */
let confirming;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let retrying;

/** The part of the page whose error is shown. */
let failed = '';

/** @param {string} text @param {'' | 'good' | 'bad'} [look] */
function say(text, look = '') {
  clearTimeout(confirming);
  failed = '';
  byId('notice').textContent = text;
  byId('notice').className = look || 'soft';
  if (look === 'good') confirming = setTimeout(say, CONFIRMED_MS, '');
}

/**
 * Runs an action, and shows the error's message if it fails, until an action for the same part of the page succeeds.
 * @param {'page' | 'keys' | 'callers' | 'changes' | 'ban'} part
 * @param {() => Promise<void>} run
 */
async function attempt(part, run) {
  try {
    await run();
    if (failed === part) say('');
  } catch (error) {
    say(describeError(error, toolbar), 'bad');
    failed = part;
  }
}

async function start() {
  if (!retrying) say('Checking your key…');
  clearTimeout(retrying);
  retrying = undefined;
  byId('admin').hidden = true;
  const checked = currentKey();
  const { viewer, problem } = await askViewer();
  if (checked !== currentKey()) return;
  if (problem && problem.retryAt < Number.POSITIVE_INFINITY)
    retrying = setTimeout(() => attempt('page', start), problem.retryAt - Date.now());
  if (!viewer?.scopes.includes('ADMIN')) {
    const key = viewer?.apiKey ? `The key “${viewer.apiKey.name}” does not have the scope ADMIN.` : '';
    const lacks = viewer?.user != null ? 'A token never has the scope ADMIN.' : key;
    say(
      problem?.text ?? (lacks || 'Enter a key with the scope ADMIN. The first start of the gateway shows such a key.'),
      currentKey() ? 'bad' : '',
    );
    return;
  }
  await Promise.all([showKeys(firstPage()), showCallers(), showChanges()]);
  say('');
  byId('admin').hidden = false;
}

/** The first page of the list, with the filters in the form. @returns {Place} */
function firstPage() {
  return {
    search: search.value,
    isActive: state.value === '' ? null : state.value === 'true',
    cursors: [null],
  };
}

/** Shows a page of keys. @param {Place} wanted the shown place by default */
async function showKeys(wanted = place) {
  const number = ++asked;
  const { cursors, ...filters } = wanted;
  const page = await api.listKeys({ after: cursors.at(-1) ?? null, ...filters });
  if (number !== asked) return;
  place = wanted;
  const { nodes, pageInfo, totalCount, totalCountRelation } = page;
  keys = nodes;
  render(byId('keys'), keys.length ? keys.map(keyItem) : html`<li class="soft">No keys match.</li>`);
  byId('total').textContent =
    `${totalCountRelation === 'EQUAL' ? '' : 'more than '}${spell(totalCount)} ${totalCount === 1 ? 'key' : 'keys'}`;
  newer.disabled = cursors.length === 1;
  older.disabled = !pageInfo.hasNextPage;
  older.dataset.cursor = pageInfo.endCursor ?? '';
  restoreFocus();
}

/** The button in the list that the user pressed last. @type {{ id: string, index: number, action: string } | undefined} */
let pressed;

/**
 * Focuses the button that the user pressed last, if its removal from the page has left nothing focused. If the key no longer
 * has this button, another button of the key gets the focus; if the key is not in the list, the key in its place.
 */
function restoreFocus() {
  if (!pressed || document.activeElement !== document.body) return;
  const items = /** @type {HTMLElement[]} */ ([...byId('keys').children]);
  const item = items.find(({ dataset }) => dataset.id === pressed?.id);
  const [first, ...others] = item?.querySelectorAll('button') ?? [];
  const same = [first, ...others].find((button) => button?.dataset.action === pressed?.action);
  (same ?? first ?? item ?? items[pressed.index] ?? items.at(-1))?.focus();
}

/** Shows another page of keys, from its beginning. @param {(string | null)[]} cursors */
function turnPage(cursors) {
  return attempt('keys', async () => {
    await showKeys({ ...place, cursors });
    /** @type {HTMLElement | null} */ (byId('keys').firstElementChild)?.focus();
  });
}

async function showCallers() {
  render(byId('callers'), callerItems(await api.topCallers(Number(range.value))));
}

/** Shows what a change has changed on the page. */
function refresh() {
  return Promise.all([attempt('keys', showKeys), attempt('changes', showChanges)]);
}

/** Shows the last changes if their section is open. */
async function showChanges() {
  if (changes.open)
    render(/** @type {HTMLElement} */ (changes.querySelector('ol')), changeItems(await api.lastChanges()));
}

function showFirstPage() {
  return attempt('keys', () => showKeys(firstPage()));
}

/** The actions of a key's buttons, by `data-action`. @type {Record<string, (key: api.Key) => void>} */
const ACTIONS = {
  change: (key) => showKeyForm(key, (input) => done(api.updateKey(key.id, input), `“${input.name}” is changed.`)),
  rotate: (key) =>
    showRotation(key, async (graceSeconds) => {
      const secret = await api.rotateKey(key.id, graceSeconds);
      showSecret(`The new secret of ${key.name}`, secret, graceNote(graceSeconds));
      say(`“${key.name}” has a new secret. ${graceNote(graceSeconds)}`, 'good');
      await refresh();
    }),
  revoke: (key) => showRevocation(key, () => done(api.revokeKey(key.id), `“${key.name}” is revoked.`)),
  unban: (key) => attempt('ban', () => done(api.liftBan(key.id), `The ban of “${key.name}” is lifted.`)),
};

/** Waits for a change, then shows a text and the updated page. @param {Promise<unknown>} change @param {string} text */
async function done(change, text) {
  await change;
  say(text, 'good');
  await refresh();
}

byId('keys').addEventListener('click', ({ target }) => {
  const button = /** @type {HTMLElement} */ (target).closest('button');
  const { action = '' } = button?.dataset ?? {};
  const index = keys.findIndex(({ id }) => id === button?.closest('li')?.dataset.id);
  const key = keys[index];
  if (!key) return;
  pressed = { id: key.id, index, action };
  ACTIONS[action]?.(key);
});
dialog.addEventListener('close', restoreFocus);
byId('create').addEventListener('click', () =>
  showKeyForm(undefined, async (input) => {
    const secret = await api.createKey(input);
    showSecret(`The key ${input.name} is created`, secret);
    place = firstPage();
    await refresh();
  }),
);
byId('unban').addEventListener('click', () =>
  showUnban(async (caller) => {
    const wasBanned = await api.liftBan(caller);
    if (wasBanned) say(`The ban of ${caller} is lifted.`, 'good');
    else say(`${caller} was not banned.`);
    await refresh();
  }),
);

/** @type {ReturnType<typeof setTimeout> | undefined} */
let typing;
search.addEventListener('input', () => {
  clearTimeout(typing);
  typing = setTimeout(showFirstPage, TYPING_MS);
});
toolbar.addEventListener('submit', (event) => {
  event.preventDefault();
  showFirstPage();
});
state.addEventListener('change', showFirstPage);
range.addEventListener('change', () => attempt('callers', showCallers));
changes.addEventListener('toggle', () => attempt('changes', showChanges));
older.addEventListener('click', () => turnPage([...place.cursors, older.dataset.cursor ?? null]));
newer.addEventListener('click', () => turnPage(place.cursors.slice(0, -1)));
keyChanges.addEventListener('change', () => attempt('page', start));
attempt('page', start);
