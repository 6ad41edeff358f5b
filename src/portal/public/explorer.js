// @ts-check
import './key-field.js';
import { byId } from './elements.js';
import { askViewer, onStanding } from './gateway.js';
import { keyChanges } from './key.js';

// This script shows the plan and the remaining quota of the caller in the top bar.

let plan = '';
let left = '';

function show() {
  byId('quota').textContent = [plan, left].filter(Boolean).join(' · ');
}

async function showPlan() {
  const { viewer, problem = '' } = await askViewer();
  plan = problem || (viewer?.plan ?? '');
  show();
}

onStanding((windows) => {
  // Shows the window with the fewest requests left, like the `X-RateLimit-*` headers.
  const [first] = [...windows].sort((a, b) => a.remaining - b.remaining);
  left = first ? `${first.remaining.toLocaleString('en')} left this ${first.name}` : '';
  show();
});
keyChanges.addEventListener('change', showPlan);
showPlan();
