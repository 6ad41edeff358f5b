// @ts-check
import { byId } from './elements.js';
import { exampleDocument } from './examples.js';
import { showProgram } from './explorer.js';
import { call, live } from './gateway.js';
import { currentKey, storage } from './key.js';

// The scripts that the page loads before this script define these globals.
const { React, ReactDOM, GraphiQL } = /** @type {any} */ (window);

if (new URLSearchParams(location.search).get('sandbox') === 'unreachable') {
  const reason = document.createElement('p');
  reason.className = 'reason';
  reason.setAttribute('role', 'status');
  reason.textContent =
    'This is GraphiQL, served by this gateway: Apollo’s servers, which Sandbox needs, cannot be reached.';
  byId('content').before(reason);
}

// This is a getter, so that each subscription sends the current key or token, even if the user has changed it.
const wsConnectionParams = {
  get authorization() {
    return currentKey() ? `Bearer ${currentKey()}` : undefined;
  },
};

showProgram(async () => {
  const fetcher = GraphiQL.createFetcher({ url: '/graphql', fetch: call, subscriptionUrl: live, wsConnectionParams });
  // Opens a tab for each example operation. The tab also contains the comment above the operation.
  const operations = (await exampleDocument()).trim().split(/\n\n(?=#)/);
  const defaultTabs = operations.map((query) => ({ query }));
  // GraphiQL's history stores the contents of the header editor, which may include keys. Session storage is deleted when the
  // tab is closed.
  const program = React.createElement(GraphiQL, { fetcher, defaultTabs, storage: storage() });
  ReactDOM.createRoot(byId('content')).render(program);
});
