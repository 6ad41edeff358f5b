// @ts-check
import './key-field.js';
import { copyButton } from './copy-button.js';
import { byId, html, render } from './elements.js';
import { askViewer, call, graphql, onStanding } from './gateway.js';
import { currentKey, keyChanges } from './key.js';
import { LANGUAGES, snippetOf } from './snippets.js';
import { inWords, sumOf, usageChart, windowMeter } from './usage-chart.js';

/** How often the quota is queried, in milliseconds. The query itself uses no quota. */
const EVERY = 5000;

/** How often usage is queried, in milliseconds. */
const USAGE_EVERY = 60_000;

/** @type {import('./gateway.js').Window[]} */
let windows = [];

function showWindows() {
  render(
    byId('windows'),
    windows.map((window) => {
      const seconds = Math.max(0, Math.ceil((window.resetAt - Date.now()) / 1000));
      return windowMeter(window, window.remaining < window.limit ? `resets in ${spellTime(seconds)}` : '');
    }),
  );
}

/** @param {number} seconds */
function spellTime(seconds) {
  if (seconds < 100) return `${seconds} s`;
  if (seconds < 6000) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3600)} h`;
}

/**
 * No queries are sent before this time. After a rejected key, the time is infinite, since each query with that key would
 * count against the client's address.
 */
let quietUntil = 0;

async function showViewer() {
  if (document.hidden || Date.now() < quietUntil) return;
  try {
    const { status, viewer, problem = '', retryAfter } = await askViewer();
    quietUntil = status === 401 ? Number.POSITIVE_INFINITY : Date.now() + retryAfter * 1000;
    say('plan', viewer?.plan ?? String(status));
    say('who', problem || (viewer ? described(viewer) : ''));
  } catch {
    say('who', 'The server does not respond.');
  }
}

/**
 * Sets the text of an element, but only if it has changed, since screen readers announce every update.
 * @param {string} id
 * @param {string} text
 */
function say(id, text) {
  if (byId(id).textContent !== text) byId(id).textContent = text;
}

/** @param {import('./gateway.js').Viewer} viewer */
function described({ scopes, apiKey }) {
  const may = scopes.length ? `may ${scopes.join(' and ').toLowerCase()}` : 'no access';
  return apiKey ? `key “${apiKey.name}”, ${may}` : `without a key, ${may}`;
}

let usageShownAt = Number.NEGATIVE_INFINITY;

/** Shows the usage of the key of this tab. The request uses no quota. */
async function showUsage() {
  if (document.hidden || Date.now() < Math.max(quietUntil, usageShownAt + USAGE_EVERY)) return;
  usageShownAt = Date.now();
  const response = currentKey() ? await call('/usage').catch(() => undefined) : undefined;
  /** @type {import('./usage-chart.js').Day[]} */
  const days = response?.ok ? await response.json() : [];
  const hint = currentKey() ? '' : 'Usage is counted per key. Enter a key to see its usage.';
  say('usage-sum', days.length ? inWords(sumOf(days)) : hint);
  render(byId('usage-chart'), days.length ? usageChart(days) : []);
}

async function showAll() {
  await showViewer();
  await showUsage();
}

/** @param {string} id @param {string} text @param {boolean} isGood */
function report(id, text, isGood) {
  byId(id).textContent = text;
  byId(id).classList.toggle('good', isGood);
  byId(id).classList.toggle('bad', !isGood);
}

async function showHealth() {
  try {
    const response = await fetch('/readyz');
    const { database, limits } = (await response.json()).checks;
    report('health', response.ok ? `Ready · database ${database} · limits in ${limits}` : 'Not ready', response.ok);
  } catch {
    report('health', 'Not responding', false);
  }
}

const requests = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('#requests button'));
let { path = '/graphql', query } = requests[0]?.dataset ?? {};
let language = LANGUAGES[0] ?? 'curl';

function showSnippet() {
  byId('request').textContent = snippetOf(language, { path, query }, currentKey() !== '');
  for (const button of byId('languages').children)
    button.setAttribute('aria-pressed', String(button.textContent === language));
}

async function run() {
  const started = performance.now();
  try {
    const response = await (query ? graphql(query) : call(path));
    const text = JSON.stringify(await response.json(), null, 2);
    const took = Math.max(1, Math.round(performance.now() - started));
    const left = response.headers.get('x-ratelimit-remaining');
    report('status', `${response.status} in ${took} ms · ${left} left`, response.ok);
    byId('body').textContent = text;
    byId('body').hidden = false;
  } catch {
    report('status', 'No response.', false);
  }
}

for (const button of requests)
  button.addEventListener('click', () => {
    ({ path = '/graphql', query } = button.dataset);
    showSnippet();
    run();
  });
render(
  byId('languages'),
  LANGUAGES.map((each) => html`<button type="button">${each}</button>`),
);
byId('languages').addEventListener('click', ({ target }) => {
  language = LANGUAGES.find((each) => each === /** @type {Element} */ (target).textContent) ?? language;
  showSnippet();
});
byId('snippet').append(copyButton(() => byId('request').textContent ?? ''));
showSnippet();

onStanding((now) => {
  windows = now;
  showWindows();
});
keyChanges.addEventListener('change', () => {
  quietUntil = 0;
  usageShownAt = Number.NEGATIVE_INFINITY;
  showSnippet();
  showAll();
});
document.addEventListener('visibilitychange', showAll);
setInterval(showAll, EVERY);
setInterval(showWindows, 1000);
setInterval(showHealth, EVERY * 3);
showAll();
showHealth();
