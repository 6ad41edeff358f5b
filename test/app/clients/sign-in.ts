import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { SetContextLink } from '@apollo/client/link/context';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { OperationTypeNode } from 'graphql';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws'; // browsers have their own
import { reconnection } from './reconnection.js';
import { report, url } from './run.js';

/** In place of a function of an OIDC client, which returns a token that has not ended. */
const accessToken = async () => (await fetch(process.env.TOKEN_URL ?? '')).text();

const authorize = new SetContextLink(async ({ headers }) => ({
  headers: { ...headers, authorization: `Bearer ${await accessToken()}` },
}));
const socket = createClient({
  url: `${url.replace('http', 'ws')}/graphql`,
  connectionParams: async () => ({ Authorization: `Bearer ${await accessToken()}` }),
  webSocketImpl: WebSocket, // not in a browser
  ...reconnection,
  shouldRetry: () => true, // a token that has ended is replaced
});
const client = new ApolloClient({
  cache: new InMemoryCache(),
  link: ApolloLink.split(
    ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
    new GraphQLWsLink(socket),
    authorize.concat(new HttpLink({ uri: `${url}/graphql` })),
  ),
});

const { data: me } = await client.query<{ viewer: { user: string } }>({ query: gql('{ viewer { user } }') });
const events = client.subscribe<{ orderChanged: { kind: string } }>({
  query: gql('subscription { orderChanged { kind } }'),
});
const seen = new Promise<string | undefined>((resolve) => {
  events.subscribe(({ data }) => resolve(data?.orderChanged.kind));
});
let connections = 0;
socket.on('connected', () => connections++);
// The token of the first connection ends. The event arrives on the second connection.
const mutation = gql('mutation { placeOrder(input: {}) { id } }');
const placing = setInterval(() => connections > 1 && client.mutate({ mutation }), 500);
report({ user: me?.viewer.user, event: await seen });
clearInterval(placing);
socket.dispose();
