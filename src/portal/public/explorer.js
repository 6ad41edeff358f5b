// @ts-check
import './key-field.js';
import { byId, html, render } from './elements.js';
import { askViewer, onStanding } from './gateway.js';
import { currentKey, keyChanges } from './key.js';

/**
 * Shows the program of the page, or says that it cannot be loaded.
 * @param {() => Promise<void>} show
 */
export async function showProgram(show) {
  try {
    await show();
  } catch (error) {
    render(byId('content'), html`<p class="notice" role="alert">This page cannot be loaded. Reload it.</p>`);
    throw error;
  }
}

// The rest of this script shows the plan and the remaining quota of the caller in the top bar.

let plan = '';
let left = '';
/** @type {import('./gateway.js').Problem | undefined} */
let problem;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let retry;

function show() {
  byId('quota').classList.toggle('bad', problem !== undefined);
  // The requests left are not shown with a problem: with a rejected key they are the requests of the address.
  byId('quota').textContent = problem?.text ?? [plan, left].filter(Boolean).join(' · ');
}

async function showPlan() {
  clearTimeout(retry);
  const key = currentKey();
  const answer = await askViewer();
  if (key !== currentKey()) return;
  problem = answer.problem;
  plan = answer.viewer?.plan ?? '';
  show();
  if (problem && problem.retryAt < Number.POSITIVE_INFINITY) retry = setTimeout(showPlan, problem.retryAt - Date.now());
}

onStanding((windows) => {
  // Shows the window with the fewest requests left, like the `X-RateLimit-*` headers.
  const [first] = [...windows].sort((a, b) => a.remaining - b.remaining);
  left = first ? `${first.remaining.toLocaleString('en')} left this ${first.name}` : '';
  show();
});
keyChanges.addEventListener('change', showPlan);
showPlan();
