import { ApolloClient, ApolloLink, CombinedGraphQLErrors, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { OperationTypeNode } from 'graphql';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws'; // browsers have their own
import { cache } from './apollo-cache.js';
import {
  CreatePetDocument,
  PetChangedDocument,
  PetsDocument,
  PlaceOrderDocument,
  RenamePetDocument,
} from './generated/graphql.js';
import { patientFetch } from './patient-fetch.js';
import { reconnection } from './reconnection.js';
import { key, report, url } from './run.js';

const http = new HttpLink({ uri: `${url}/graphql`, headers: { 'x-api-key': key }, fetch: patientFetch });
const socket = createClient({
  url: `${url.replace('http', 'ws')}/graphql`,
  connectionParams: { 'x-api-key': key },
  webSocketImpl: WebSocket, // not in a browser
  ...reconnection,
});
const client = new ApolloClient({
  cache,
  link: ApolloLink.split(
    ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
    new GraphQLWsLink(socket),
    http,
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

client.subscribe({ query: PetChangedDocument }).subscribe(() => undefined);
await new Promise((resolve) => socket.on('connected', resolve));
await new Promise((resolve) => setTimeout(resolve, 200)); // until the server has started the subscription
// Another client changes the pet. The cache takes the change from the event.
await fetch(`${url}/pets/2`, {
  method: 'PATCH',
  headers: { 'content-type': 'application/json', 'x-api-key': key },
  body: JSON.stringify({ name: 'Elsewhere' }),
});
while (!names()?.includes('Elsewhere')) await new Promise((resolve) => setTimeout(resolve, 20));
const live = names();

report({
  pages: [before, after],
  totalCount: first?.totalCount,
  renamed,
  orders,
  refused,
  live,
  normalised: Object.keys(cache.extract()).sort(),
});
await socket.dispose();
client.stop();
