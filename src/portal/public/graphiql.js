// @ts-check
import './explorer-bar.js';
import { examples } from './examples.js';
import { call, live } from './gateway.js';
import { currentKey } from './key.js';

// From the scripts loaded before this one.
const { React, ReactDOM, GraphiQL } = /** @type {any} */ (window);

// Read for each subscription, since the key may have changed.
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

// GraphiQL's history stores the header editor's text, including keys: like the key itself, it is gone with the tab.
const storage = sessionStorage;

ReactDOM.createRoot(document.getElementById('explorer')).render(
  React.createElement(GraphiQL, { fetcher, defaultTabs, storage }),
);
