import { Client, cacheExchange, fetchExchange, subscriptionExchange } from '@urql/core';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws'; // browsers have their own
import { reconnection } from './reconnection.js';
import { key, report, url } from './run.js';

const socket = createClient({
  url: `${url.replace('http', 'ws')}/graphql`,
  connectionParams: { 'x-api-key': key },
  webSocketImpl: WebSocket, // not in a browser
  ...reconnection,
});
const client = new Client({
  url: `${url}/graphql`,
  exchanges: [
    cacheExchange,
    fetchExchange,
    subscriptionExchange({
      forwardSubscription: ({ query, variables }) => ({
        subscribe: (sink) => ({
          unsubscribe: socket.subscribe({ query: query ?? '', variables: variables as Record<string, unknown> }, sink),
        }),
      }),
    }),
  ],
  preferGetMethod: false,
  fetchOptions: { headers: { 'x-api-key': key } },
});

const retries: boolean[] = [];
socket.on('connected', (_socket, _payload, wasRetry) => retries.push(wasRetry));
const change = await new Promise((resolve) => {
  const events = client.subscription('subscription { petChanged { kind petId } }', {});
  const { unsubscribe } = events.subscribe(({ data, error }) => {
    if (retries.length < 2 && !error) return;
    unsubscribe();
    resolve(error?.message ?? data);
  });
});
report({ change, retries });
await socket.dispose();
