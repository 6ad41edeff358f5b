// @ts-check
import './key-field.js';
import { copyButton } from './copy-button.js';
import { answers, askViewer, call, graphql } from './gateway.js';
import { currentKey, keyChanges } from './key.js';
import { LANGUAGES, snippetOf } from './snippets.js';
import { inWords, sumOf, usageChart } from './usage-chart.js';

/** How often the quota is queried, in milliseconds; the query costs no quota. */
const EVERY = 5000;

/** Usage changes less often, in milliseconds. */
const USAGE_EVERY = 60_000;

/** @type {(import('./snippets.js').Example & { name: string, send: () => Promise<Response> })[]} */
const REQUESTS = [
  ...['/pets?limit=3', '/store/inventory?limit=3', '/store/orders?limit=3'].map((path) => ({
    name: `GET ${path.split('?')[0]}`,
    path,
    send: () => call(path),
  })),
  ...[
    ['GraphQL: pets', '{ pets(first: 3) { totalCount nodes { name status category { name } } } }'],
    ['GraphQL: viewer, free', '{ viewer { plan scopes rateLimit { windows { name remaining } } } }'],
  ].map(([name = '', query = '']) => ({
    name,
    path: '/graphql',
    query,
    send: () => graphql(query),
  })),
];

/** @param {string} id */
const element = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** @type {import('./gateway.js').Window[]} */
let windows = [];

function showWindows() {
  for (const window of windows) meterOf(window);
}

/**
 * Shows the meter of a window, created on first use.
 * @param {import('./gateway.js').Window} window
 */
function meterOf({ name, limit, remaining, resetAt }) {
  let meter = document.getElementById(`window-${name}`);
  if (!meter) {
    meter = document.createElement('div');
    meter.id = `window-${name}`;
    meter.className = 'window';
    meter.innerHTML = `
      <p><b class="remaining"></b> <span class="limit"></span> <span class="reset"></span></p>
      <div class="bar" role="meter" aria-valuemin="0"><i></i></div>`;
    element('windows').append(meter);
  }
  /** @param {string} selector */
  const part = (selector) => /** @type {HTMLElement} */ (meter.querySelector(selector));
  const share = limit ? remaining / limit : 0;
  const seconds = Math.max(0, Math.ceil((resetAt - Date.now()) / 1000));
  part('.remaining').textContent = remaining.toLocaleString('en');
  part('.limit').textContent = `of ${limit.toLocaleString('en')} left this ${name}`;
  part('.reset').textContent = remaining < limit ? `resets in ${spell(seconds)}` : '';
  part('.bar').setAttribute('aria-label', `Requests left this ${name}`);
  part('.bar').setAttribute('aria-valuemax', String(limit));
  part('.bar').setAttribute('aria-valuenow', String(remaining));
  part('i').style.width = `${share * 100}%`;
  meter.classList.toggle('low', share <= 0.2);
}

/** @param {number} seconds */
function spell(seconds) {
  if (seconds < 100) return `${seconds} s`;
  if (seconds < 6000) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3600)} h`;
}

/** No queries before this time; none ever with a rejected key, since each would count against the address. */
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
 * Sets a text only if it has changed, since screen readers announce every update.
 * @param {string} id
 * @param {string} text
 */
function say(id, text) {
  if (element(id).textContent !== text) element(id).textContent = text;
}

/** @param {import('./gateway.js').Viewer} viewer */
function described({ scopes, apiKey }) {
  const may = scopes.length ? `may ${scopes.join(' and ').toLowerCase()}` : 'no access';
  return apiKey ? `key “${apiKey.name}”, ${may}` : `without a key, ${may}`;
}

async function showAll() {
  await showViewer();
  await showUsage();
}

async function showHealth() {
  const health = element('health');
  try {
    const response = await fetch('/readyz');
    const { checks } = await response.json();
    health.dataset.state = response.ok ? 'ok' : 'down';
    health.textContent = response.ok ? `Ready · database ${checks.database} · limits in ${checks.limits}` : 'Not ready';
  } catch {
    health.dataset.state = 'down';
    health.textContent = 'Not responding';
  }
}

let shown = REQUESTS[0];
/** @type {import('./snippets.js').Language} */
let language = 'curl';

function showSnippet() {
  if (shown) element('request').textContent = snippetOf(language, shown, currentKey() !== '');
  for (const button of element('languages').querySelectorAll('button')) {
    button.setAttribute('aria-pressed', String(button.textContent === language));
  }
}

let usageShownAt = Number.NEGATIVE_INFINITY;

/** Shows what the key of this tab has used. Costs no quota. */
async function showUsage() {
  if (document.hidden || Date.now() < Math.max(quietUntil, usageShownAt + USAGE_EVERY)) return;
  usageShownAt = Date.now();
  if (!currentKey()) return showDays([], 'Usage is kept per key: enter one to see what it has used.');
  const response = await call('/usage').catch(() => undefined);
  if (!response?.ok) return showDays([], '');
  /** @type {import('./usage-chart.js').Day[]} */
  const days = await response.json();
  showDays(days, inWords(sumOf(days)));
}

/** @param {import('./usage-chart.js').Day[]} days @param {string} text */
function showDays(days, text) {
  element('usage-sum').textContent = text;
  element('usage-chart').replaceChildren(...(days.length ? [usageChart(days)] : []));
  element('usage-from').textContent = days[0]?.date ?? '';
  element('usage-to').textContent = days.length ? 'today' : '';
}

/** @param {typeof REQUESTS[number]} request */
async function run(request) {
  shown = request;
  showSnippet();
  const { send } = request;
  const body = element('body');
  const status = element('status');
  const started = performance.now();
  try {
    const response = await send();
    const text = await response.text();
    const took = Math.max(1, Math.round(performance.now() - started));
    status.textContent = `${response.status} in ${took} ms · ${response.headers.get('x-ratelimit-remaining')} left`;
    status.dataset.state = response.ok ? 'ok' : 'down';
    body.textContent = JSON.stringify(JSON.parse(text), null, 2);
    body.hidden = false;
  } catch {
    status.textContent = 'No response.';
    status.dataset.state = 'down';
  }
}

for (const request of REQUESTS) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = request.name;
  button.addEventListener('click', () => run(request));
  const item = document.createElement('li');
  item.append(button);
  element('requests').append(item);
}
for (const each of LANGUAGES) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = each;
  button.addEventListener('click', () => {
    language = each;
    showSnippet();
  });
  element('languages').append(button);
}
element('copy').append(copyButton(() => element('request').textContent ?? ''));
showSnippet();

answers.addEventListener('standing', (event) => {
  windows = /** @type {CustomEvent<import('./gateway.js').Window[]>} */ (event).detail;
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
