// @ts-check
import './explorer-bar.js';
import { examples } from './examples.js';
import { call, live } from './gateway.js';
import { currentKey } from './key.js';

// From the scripts that the page loads before this one.
const { React, ReactDOM, GraphiQL } = /** @type {any} */ (window);

// Read again for each subscription: the key may have changed meanwhile.
const wsConnectionParams = {
  get 'x-api-key'() {
    return currentKey() || undefined;
  },
};
const fetcher = GraphiQL.createFetcher({
  url: '/graphql',
  fetch: call,
  subscriptionUrl: live,
  wsConnectionParams,
});
const defaultTabs = (await examples()).map((query) => ({ query }));

// Its history holds the header editor's text, keys too: it goes with the tab, like the key itself.
const storage = sessionStorage;

ReactDOM.createRoot(document.getElementById('explorer')).render(
  React.createElement(GraphiQL, { fetcher, defaultTabs, storage }),
);
