// @ts-check
import './key-field.js';
import { copyButton } from './copy-button.js';
import { byId, html, render } from './elements.js';
import { askViewer, call, graphql, onStanding } from './gateway.js';
import { currentKey, hasToken, keyChanges } from './key.js';
import { KEY, LANGUAGES, snippetOf, TOKEN } from './snippets.js';
import { spellDuration } from './times.js';
import { inWords, sumOf, usageChart, windowMeter } from './usage-chart.js';

/** How often the quota is queried, in milliseconds. The query itself uses no quota. */
const EVERY = 5000;

/** How often usage is queried, in milliseconds. */
const USAGE_EVERY = 60_000;

/** @type {import('./gateway.js').Window[]} */
let windows = [];
/** Why requests of this tab are not accepted. No queries are sent before its `retryAt`. @type {import('./gateway.js').Problem | undefined} */
let problem;

/** Shows the requests left in each window; if requests are not accepted, when they will be. */
function showWindows() {
  if (problem) return render(byId('windows'), waitNote(problem.retryAt - Date.now()));
  render(
    byId('windows'),
    windows.map((window) => {
      const reset = `resets in ${spellDuration(window.resetAt - Date.now())}`;
      return windowMeter(window, window.remaining < window.limit ? reset : '');
    }),
  );
}

/** @param {number} wait in milliseconds */
function waitNote(wait) {
  const next = wait > 0 ? `Next attempt in ${spellDuration(wait)}.` : 'Trying again…';
  const what = hasToken() ? 'token' : 'key';
  const text = wait === Number.POSITIVE_INFINITY ? `Enter another ${what}, or forget this ${what}.` : next;
  return html`<p class="soft">${text}</p>`;
}

async function showViewer() {
  if (document.hidden || Date.now() < (problem?.retryAt ?? 0)) return;
  const key = currentKey();
  const answer = await askViewer();
  if (key !== currentKey()) return;
  problem = answer.problem;
  say('plan', answer.viewer?.plan ?? problem?.title ?? '');
  say('who', answer.viewer ? described(answer.viewer) : (problem?.text ?? ''));
  byId('plan').classList.toggle('bad', problem !== undefined);
  showWindows();
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
function described({ scopes, user, apiKey }) {
  const listed = scopes.length ? `scopes: ${scopes.join(', ').toLowerCase()}` : 'no scopes';
  if (user !== null) return `user “${user}”, ${listed}`;
  return apiKey ? `key “${apiKey.name}”, ${listed}` : `without a key, ${listed}`;
}

let usageShownAt = Number.NEGATIVE_INFINITY;

/** Shows the usage of the key of this tab. The request uses no quota. */
async function showUsage() {
  if (document.hidden || (!problem && Date.now() < usageShownAt + USAGE_EVERY)) return;
  usageShownAt = problem ? Number.NEGATIVE_INFINITY : Date.now();
  const key = currentKey();
  const days = key && !problem ? await readUsage() : [];
  if (key !== currentKey()) return;
  if (!days) usageShownAt = Number.NEGATIVE_INFINITY;
  say('usage-sum', days?.length ? inWords(sumOf(days)) : reasonForNoUsage(days));
  render(byId('usage-chart'), days?.length ? usageChart(days) : []);
}

/** @returns {Promise<import('./usage-chart.js').Day[] | undefined>} `undefined` if the usage cannot be read */
async function readUsage() {
  try {
    const response = await call('/usage');
    return response.ok ? await response.json() : undefined;
  } catch {
    return undefined;
  }
}

/** @param {readonly unknown[] | undefined} days */
function reasonForNoUsage(days) {
  if (problem) return `Not available: ${problem.title.toLowerCase()}.`;
  return days ? 'Usage is counted per key. Enter a key to see its usage.' : 'The usage cannot be read.';
}

async function showAll() {
  await showViewer();
  await showUsage();
}

/** @param {string} id @param {ReturnType<typeof html> | string} text @param {boolean} isGood */
function report(id, text, isGood) {
  render(byId(id), html`${text}`);
  byId(id).classList.toggle('good', isGood);
  byId(id).classList.toggle('bad', !isGood);
}

async function showHealth() {
  try {
    const response = await fetch('/readyz');
    const { database, limits } = (await response.json()).checks;
    const details = html`<span class="roomy"> · database ${database} · limits in ${limits}</span>`;
    report('health', response.ok ? html`Ready${details}` : 'Not ready', response.ok);
  } catch {
    report('health', 'Not responding', false);
  }
}

const requests = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('#requests button'));
/** The button of the request that is shown. */
let chosen = requests[0];
let language = LANGUAGES[0] ?? 'curl';

/** @returns {import('./snippets.js').Example} */
function example() {
  const { path = '/graphql', query } = chosen?.dataset ?? {};
  return { path, query };
}

function showSnippet() {
  const credential = hasToken() ? TOKEN : currentKey() ? KEY : undefined;
  byId('request').textContent = snippetOf(language, example(), credential);
  for (const button of requests) button.setAttribute('aria-pressed', String(button === chosen));
  for (const button of byId('languages').children)
    button.setAttribute('aria-pressed', String(button.textContent === language));
}

/** The number of the latest request. Responses to earlier requests are ignored. */
let sent = 0;

async function run() {
  const number = ++sent;
  const { path, query } = example();
  const started = performance.now();
  byId('body').ariaBusy = 'true';
  /** @type {Response | undefined} */
  let response;
  let text = '';
  try {
    response = await (query ? graphql(query) : call(path));
    text = JSON.stringify(await response.json(), null, 2);
  } catch {
    // There is no response, or its body is not JSON.
  }
  if (number !== sent) return;
  const took = Math.max(1, Math.round(performance.now() - started));
  if (response) report('status', `${response.status} in ${took} ms${costOf(response)}`, response.ok);
  else report('status', 'No response.', false);
  byId('body').textContent = text;
  byId('body').hidden = !text;
  byId('body').ariaBusy = 'false';
}

/** What a response says about the quota. With a rejected key, its headers are about the address. @param {Response} response */
function costOf({ status, headers }) {
  if (status === 401) return '';
  const wait = Number(headers.get('retry-after'));
  return wait ? ` · try again in ${spellDuration(wait * 1000)}` : ` · ${headers.get('x-ratelimit-remaining')} left`;
}

for (const button of requests)
  button.addEventListener('click', () => {
    chosen = button;
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
  // A problem of the previous key is shown until the response to the first request with this key.
  if (problem) problem.retryAt = 0;
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
