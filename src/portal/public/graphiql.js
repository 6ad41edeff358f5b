// @ts-check
import { exampleDocument } from './explorer.js';
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
const fetcher = GraphiQL.createFetcher({ url: '/graphql', fetch: call, subscriptionUrl: live, wsConnectionParams });

// One tab for each operation with its comment.
const operations = (await exampleDocument()).trim().split(/\n\n(?=#)/);
const defaultTabs = operations.map((query) => ({ query }));

// GraphiQL's history stores the header editor's text, including keys: like the key itself, it is gone with the tab.
const storage = sessionStorage;

ReactDOM.createRoot(document.getElementById('content')).render(
  React.createElement(GraphiQL, { fetcher, defaultTabs, storage }),
);
