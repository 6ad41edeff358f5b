// @ts-check
import './key-field.js';
import { byId } from './elements.js';
import { askViewer, onStanding } from './gateway.js';
import { keyChanges } from './key.js';

// Shows the plan of the caller and its remaining quota in the top bar.

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
  // The window in force, as in the headers.
  const [first] = [...windows].sort((a, b) => a.remaining - b.remaining);
  left = first ? `${first.remaining.toLocaleString('en')} left this ${first.name}` : '';
  show();
});
keyChanges.addEventListener('change', showPlan);
showPlan();

/** @returns {Promise<string>} the example operations, as one document */
export async function exampleDocument() {
  return (await fetch(new URL('examples.graphql', import.meta.url))).text();
}
