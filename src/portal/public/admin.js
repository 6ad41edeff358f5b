// @ts-check
import './key-field.js';
import './site.js';
import * as api from './admin-api.js';
import { showKeyForm, showRevocation, showRotation, showSecret, showUnban } from './admin-dialogs.js';
import { callerItems, keyItem } from './admin-keys.js';
import { byId, make } from './elements.js';
import { askViewer } from './gateway.js';
import { currentKey, keyChanges } from './key.js';
import { spell } from './usage-chart.js';

const TYPING_MS = 250;
const search = /** @type {HTMLInputElement} */ (byId('search'));
const state = /** @type {HTMLSelectElement} */ (byId('state'));
const range = /** @type {HTMLSelectElement} */ (byId('range'));
const newer = /** @type {HTMLButtonElement} */ (byId('newer'));
const older = /** @type {HTMLButtonElement} */ (byId('older'));

/** The cursors of the pages before this one and of this one; the first page has none. @type {(string | null)[]} */
let cursors = [null];
/** The number of the last question: what was asked before and comes later is not shown. */
let asked = 0;

/** @param {string} text @param {'' | 'good' | 'bad'} [state] */
function say(text, state = '') {
  const notice = byId('notice');
  notice.textContent = text;
  notice.dataset.state = state;
}

/** Says what went wrong, rather than nothing. @param {() => Promise<void>} run */
async function attempt(run) {
  try {
    await run();
  } catch (error) {
    say(/** @type {Error} */ (error).message, 'bad');
  }
}

async function start() {
  byId('admin').hidden = true;
  say('Checking your key…');
  const { viewer, problem } = await askViewer();
  if (!viewer?.scopes.includes('ADMIN')) {
    const lacks = viewer?.apiKey ? `The key “${viewer.apiKey.name}” does not have the scope ADMIN.` : '';
    say(
      problem ?? (lacks || 'Enter a key with the scope ADMIN: the first start of the gateway shows one.'),
      currentKey() ? 'bad' : '',
    );
    return;
  }
  say('');
  byId('admin').hidden = false;
  await Promise.all([showKeys(), showCallers()]);
}

async function showKeys() {
  const question = ++asked;
  const isActive = state.value === '' ? null : state.value === 'true';
  const page = await api.listKeys({ after: cursors.at(-1) ?? null, search: search.value, isActive });
  if (question !== asked) return;
  const { nodes, pageInfo, totalCount, totalCountRelation } = page;
  const items = nodes.map((key) => keyItem(key, act));
  byId('keys').replaceChildren(...(items.length ? items : [make('li', { class: 'soft none' }, 'No keys match.')]));
  byId('total').textContent =
    `${totalCountRelation === 'EQUAL' ? '' : 'more than '}${spell(totalCount)} ${totalCount === 1 ? 'key' : 'keys'}`;
  newer.disabled = cursors.length === 1;
  older.disabled = !pageInfo.hasNextPage;
  older.dataset.cursor = pageInfo.endCursor ?? '';
}

async function showCallers() {
  const callers = await api.topCallers(Number(range.value));
  byId('callers').replaceChildren(...callerItems(callers));
}

function showFirstPage() {
  cursors = [null];
  return attempt(showKeys);
}

/** @param {import('./admin-keys.js').Action} action @param {api.Key} key */
function act(action, key) {
  const actions = {
    change: () => showKeyForm(key, (input) => done(api.updateKey(key.id, input), `“${input.name}” is changed.`)),
    rotate: () =>
      showRotation(key, async (graceSeconds) => {
        const secret = await api.rotateKey(key.id, graceSeconds);
        showSecret(`The new secret of ${key.name}`, secret);
        await attempt(showKeys);
      }),
    revoke: () => showRevocation(key, () => done(api.revokeKey(key.id), `“${key.name}” is revoked.`)),
    unban: () => attempt(() => done(api.liftBan(key.id), `The ban of “${key.name}” is lifted.`)),
  };
  actions[action]();
}

/** @param {Promise<unknown>} change @param {string} text what is said then */
async function done(change, text) {
  await change;
  say(text, 'good');
  await attempt(showKeys);
}

byId('create').addEventListener('click', () =>
  showKeyForm(undefined, async (input) => {
    const secret = await api.createKey(input);
    showSecret(`The key ${input.name} is created`, secret);
    await showFirstPage();
  }),
);
byId('unban').addEventListener('click', () =>
  showUnban(async (caller) => {
    const wasBanned = await api.liftBan(caller);
    if (wasBanned) say(`The ban of ${caller} is lifted.`, 'good');
    else say(`${caller} was not banned.`);
    await attempt(showKeys);
  }),
);

/** @type {ReturnType<typeof setTimeout> | undefined} */
let typing;
search.addEventListener('input', () => {
  clearTimeout(typing);
  typing = setTimeout(showFirstPage, TYPING_MS);
});
byId('toolbar').addEventListener('submit', (event) => {
  event.preventDefault();
  showFirstPage();
});
state.addEventListener('change', showFirstPage);
range.addEventListener('change', () => attempt(showCallers));
older.addEventListener('click', () => {
  cursors.push(older.dataset.cursor ?? null);
  attempt(showKeys);
});
newer.addEventListener('click', () => {
  cursors.pop();
  attempt(showKeys);
});
keyChanges.addEventListener('change', () => attempt(start));
attempt(start);
