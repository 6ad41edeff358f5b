import {
  type ApolloCache,
  ApolloClient,
  ApolloLink,
  CombinedGraphQLErrors,
  gql,
  HttpLink,
  InMemoryCache,
  type Reference,
} from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { OperationTypeNode } from 'graphql';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws'; // browsers have their own
import { cache } from './apollo-cache.js';
import {
  CreatePetDocument,
  DeletePetDocument,
  PetChangedDocument,
  PetsDocument,
  PlaceOrderDocument,
  RenamePetDocument,
} from './generated/graphql.js';
import { patientFetch } from './patient-fetch.js';
import { key, report, url } from './run.js';

/** The requests sent to the server; `GET hash` is a query sent only as its hash. */
const sent: string[] = [];
const { fetch: plainFetch } = globalThis;
globalThis.fetch = (input, init) => {
  const { method, body } = init ?? {};
  const text = method === 'GET' ? new URL(String(input)).searchParams.get('query') : JSON.parse(String(body)).query;
  sent.push(`${method} ${text ? 'text' : 'hash'}`);
  return plainFetch(input, init);
};

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
    if (!CombinedGraphQLErrors.is(error)) throw error; // not an error of the petstore
    return String(error.errors[0]?.extensions?.code);
  }
}
const orders = [await order('1', 1), await order('1', 1000), await order('99', 1)];

interface PetList {
  totalCount: number;
  edges: { __typename: 'PetEdge'; node: Reference }[];
  pageInfo: { hasNextPage: boolean };
}

/** Updates the lists in the cache after a pet was created, changed or deleted. */
function applyChange(cache: ApolloCache, kind: 'CREATED' | 'UPDATED' | 'DELETED', id: string): void {
  const pet = cache.identify({ __typename: 'Pet', id }) ?? '';
  cache.modify<{ pets: PetList }>({
    fields: {
      pets(list, { storeFieldName, DELETE }) {
        // Lists with a filter or an order are read again: only the server knows whether and where they contain the pet.
        if (storeFieldName !== 'pets:{}') return DELETE;
        const { edges, totalCount, pageInfo } = list as PetList;
        const others = edges.filter(({ node }) => node.__ref !== pet);
        if (kind === 'DELETED') return { ...list, edges: others, totalCount: totalCount - 1 };
        if (kind === 'UPDATED' || others.length < edges.length) return list;
        // A new pet comes last. It is added only if the list has been read to its end.
        const edge = { __typename: 'PetEdge' as const, node: { __ref: pet } };
        return { ...list, edges: pageInfo.hasNextPage ? edges : [...edges, edge], totalCount: totalCount + 1 };
      },
    },
  });
  if (kind !== 'DELETED') return;
  cache.evict({ id: pet });
  cache.gc();
}

const { data: added } = await client.mutate({
  mutation: CreatePetDocument,
  variables: { input: { name: 'Luna', categoryId: '1' } },
  update: (cache, { data }) => data?.createPet && applyChange(cache, 'CREATED', data.createPet.id),
});
const total = () => client.readQuery(page)?.pets.totalCount;
const created = [names(), total()];
await client.mutate({
  mutation: DeletePetDocument,
  variables: { id: added?.createPet?.id ?? '' },
  update: (cache, { data }) => data?.deletePet && applyChange(cache, 'DELETED', data.deletePet.id),
});
const deleted = [names(), total()];

/** The error code that a client with this key gets, whichever stage of the server rejects its request. */
async function refusal(key: string, ask: (stranger: ApolloClient) => Promise<unknown>): Promise<string> {
  const link = new HttpLink({ uri: `${url}/graphql`, headers: { 'x-api-key': key } });
  const stranger = new ApolloClient({ cache: new InMemoryCache(), link });
  const error = await ask(stranger).then(String, (reason: unknown) => reason);
  return CombinedGraphQLErrors.is(error) ? String(error.errors[0]?.extensions?.code) : String(error);
}
const query = (given: object) => (stranger: ApolloClient) =>
  stranger.query({ query: PetsDocument, variables: { first: 2, ...given } });
const create = (name: string) => (stranger: ApolloClient) =>
  stranger.mutate({ mutation: CreatePetDocument, variables: { input: { name, categoryId: '1' } } });
const unknown = (stranger: ApolloClient) => stranger.query({ query: gql`query Unknown { dragons { id } }` });
const limited = process.env.LIMITED_KEY ?? '';
const refused = [
  await refusal('wrong', query({})),
  await refusal(key, query({ first: 1000 })),
  await refusal(key, unknown),
  await refusal(key, create('x'.repeat(200_000))),
  await refusal(limited, create('Luna')),
  await refusal(limited, query({})),
];
for (let i = 0; i < 20; i++) await refusal(limited, query({}));
refused.push(await refusal(limited, query({})));

client.subscribe({ query: PetChangedDocument }).subscribe(({ data }) => {
  if (data) applyChange(client.cache, data.petChanged.kind, data.petChanged.petId);
});

const sold = { query: PetsDocument, variables: { first: 10, filter: { statuses: ['sold' as const] } } };
client.watchQuery(sold).subscribe(() => undefined);
await new Promise((resolve) => socket.on('connected', resolve));
await new Promise((resolve) => setTimeout(resolve, 200)); // until the server has started the subscription

/** Sends a REST request, as another client would, and waits until `shows` returns true. */
async function elsewhere(method: string, path: string, body: object | undefined, shows: () => unknown) {
  const headers = { 'content-type': 'application/json', 'x-api-key': key };
  const response = await plainFetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  while (!shows()) await new Promise((resolve) => setTimeout(resolve, 20));
  return response;
}
const soldNames = () => client.readQuery(sold)?.pets.edges.map(({ node }) => node.name);
await elsewhere('PATCH', '/pets/2', { name: 'Elsewhere' }, () => names()?.includes('Elsewhere'));
const live = names();
const { headers: arrival } = await elsewhere('POST', '/pets', { name: 'Nala', categoryId: 2, status: 'sold' }, () =>
  soldNames()?.includes('Nala'),
);
const arrived = [names(), total(), soldNames()];
await elsewhere('DELETE', arrival.get('location') ?? '', undefined, () => soldNames()?.includes('Nala') === false);
const gone = [names(), total(), soldNames()];

report({
  pages: [before, after],
  totalCount: first?.totalCount,
  renamed,
  orders,
  created,
  deleted,
  refused,
  live,
  arrived,
  gone,
  normalised: Object.keys(cache.extract()).sort(),
  sent: sent.slice(0, 4),
});
await socket.dispose();
client.stop();
