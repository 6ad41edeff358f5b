import { ApolloClient, ApolloLink, CombinedGraphQLErrors, HttpLink, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { relayStylePagination } from '@apollo/client/utilities';
import { OperationTypeNode } from 'graphql';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws'; // browsers have their own
import { PetChangedDocument, PetsDocument, PlaceOrderDocument, RenamePetDocument } from './generated/graphql.js';
import { patientFetch } from './patient-fetch.js';
import { key, report, url } from './run.js';

/** What goes to the server: `GET hash` where the text of a query is left out. */
const sent: string[] = [];
const { fetch: plainFetch } = globalThis;
globalThis.fetch = (input, init) => {
  const { method, body } = init ?? {};
  const text = method === 'GET' ? new URL(String(input)).searchParams.get('query') : JSON.parse(String(body)).query;
  sent.push(`${method} ${text ? 'text' : 'hash'}`);
  return plainFetch(input, init);
};

const cache = new InMemoryCache({
  typePolicies: {
    Query: { fields: { pets: relayStylePagination(['filter', 'orderBy']) } },
    InventoryItem: { keyFields: ['petId'] },
  },
});
const http = new HttpLink({ uri: `${url}/graphql`, headers: { 'x-api-key': key }, fetch: patientFetch });
const sha256 = async (text: string) => {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
};
const persisted = new PersistedQueryLink({ sha256, useGETForHashedQueries: true });
const socket = createClient({
  url: `${url.replace('http', 'ws')}/graphql`,
  connectionParams: { 'x-api-key': key },
  webSocketImpl: WebSocket, // not in a browser
});
const client = new ApolloClient({
  cache,
  link: ApolloLink.split(
    ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
    new GraphQLWsLink(socket),
    persisted.concat(http),
  ),
});

const page = { query: PetsDocument, variables: { first: 2 } };
const first = (await client.query(page)).data?.pets;
const pets = client.watchQuery(page);
pets.subscribe(() => undefined);
const names = () => client.readQuery(page)?.pets.edges.map(({ node }) => node.name);

const before = names();
await pets.fetchMore({ variables: { after: first?.pageInfo.endCursor } });
const after = names();

await client.mutate({ mutation: RenamePetDocument, variables: { id: '1', name: 'Renamed' } });
const renamed = names();

async function order(petId: string, quantity: number): Promise<string> {
  try {
    const { data } = await client.mutate({
      mutation: PlaceOrderDocument,
      variables: { petId, quantity },
      context: { headers: { 'Idempotency-Key': crypto.randomUUID() } },
    });
    return `order of ${data?.placeOrder?.quantity}`;
  } catch (error) {
    if (!CombinedGraphQLErrors.is(error)) throw error; // nothing that the petstore has said
    return String(error.errors[0]?.extensions?.code);
  }
}
const orders = [await order('1', 1), await order('1', 1000), await order('99', 1)];

const stranger = new ApolloClient({
  cache: new InMemoryCache(),
  link: new HttpLink({ uri: `${url}/graphql`, headers: { 'x-api-key': 'wrong' } }),
});
const refused = await stranger.query(page).catch((error: unknown) => {
  // Refused before GraphQL has seen the request, and yet an answer of the petstore.
  return CombinedGraphQLErrors.is(error) ? error.errors[0]?.extensions?.code : String(error);
});

const changes = client.subscribe({ query: PetChangedDocument });
const change = new Promise((resolve) => {
  changes.subscribe(({ data }) => resolve(`${data?.petChanged.kind} ${data?.petChanged.petId}`));
});
await new Promise((resolve) => socket.on('connected', resolve));
await new Promise((resolve) => setTimeout(resolve, 200)); // the subscription itself
await fetch(`${url}/pets/2`, {
  method: 'PATCH',
  headers: { 'content-type': 'application/json', 'x-api-key': key },
  body: JSON.stringify({ name: 'Elsewhere' }),
});

report({
  pages: [before, after],
  totalCount: first?.totalCount,
  renamed,
  orders,
  refused,
  change: await change,
  live: names(),
  normalised: Object.keys(cache.extract()).sort(),
  sent: sent.slice(0, 4),
});
await socket.dispose();
client.stop();
