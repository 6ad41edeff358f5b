import { createRequire } from 'node:module';
import { createClient } from 'graphql-ws';
import {
  commitMutation,
  createOperationDescriptor,
  Environment,
  fetchQuery,
  type GraphQLResponse,
  getSingularSelector,
  Network,
  Observable,
  RecordSource,
  requestSubscription,
  Store,
} from 'relay-runtime';
import { WebSocket } from 'ws'; // browsers have their own
import { patientFetch } from './patient-fetch.js';
import { reconnection } from './reconnection.js';
import { key, report, url } from './run.js';

const socket = createClient({
  url: `${url.replace('http', 'ws')}/graphql`,
  connectionParams: { 'x-api-key': key },
  webSocketImpl: WebSocket, // not in a browser
  ...reconnection,
});
const environment = new Environment({
  network: Network.create(
    async ({ text, name }, variables) => {
      const headers = { 'content-type': 'application/json', 'x-api-key': key };
      const body = JSON.stringify({ query: text, operationName: name, variables });
      const response = await patientFetch(`${url}/graphql`, { method: 'POST', headers, body });
      return response.json();
    },
    ({ text, name }, variables) =>
      Observable.create<GraphQLResponse>((sink) =>
        socket.subscribe(
          { query: String(text), operationName: name, variables },
          {
            next: (answer) => sink.next(answer as GraphQLResponse),
            error: (error) => sink.error(error as Error),
            complete: () => sink.complete(),
          },
        ),
      ),
  ),
  store: new Store(new RecordSource()),
  getDataID: (value) => value.nodeId ?? value.id,
});

/** Loads files that relay-compiler generated. In an application, Relay's plugin for Babel or SWC loads them. */
const made = createRequire(new URL('../relay/made/', import.meta.url));
const artifact = (name: string) => made(`./relayOperations${name}.graphql.js`);

const first = createOperationDescriptor(artifact('Query'), { id: '1', count: 1 });
environment.retain(first);
await fetchQuery(environment, artifact('Query'), first.request.variables).toPromise();
const data = () => environment.lookup(first.fragment).data as { category: { __id: string }; order: unknown };

interface Shelf {
  name: string;
  pets: { __id: string; edges: { node: { name: string } }[]; pageInfo: { endCursor: string; hasNextPage: boolean } };
}
function shelf(): Shelf {
  const selector = getSingularSelector(artifact('_category'), data().category);
  return environment.lookup(selector as NonNullable<typeof selector>).data as unknown as Shelf;
}
const names = () => shelf().pets.edges.map(({ node }) => node.name);

const seen = [names()];
const { pageInfo, __id } = shelf().pets;
// Refetches by the id of the record, which is the nodeId, as usePaginationFragment does.
const { __id: nodeId } = data().category;
await fetchQuery(environment, artifact('NextQuery'), { nodeId, count: 1, cursor: pageInfo.endCursor }).toPromise();
seen.push(names());

const connections = [__id];
function commit(name: string, variables: object): Promise<{ createPet: { id: string } }> {
  const mutation = artifact(name);
  return new Promise((resolve, reject) => {
    const done = (response: object) => resolve(response as { createPet: { id: string } });
    commitMutation(environment, {
      mutation,
      variables: { ...variables, connections },
      onCompleted: done,
      onError: reject,
    });
  });
}
const { createPet } = await commit('CreateMutation', { input: { name: 'Luna', categoryId: '1' } });
seen.push(names());
await commit('DeleteMutation', { id: createPet.id });
seen.push(names());

const change = new Promise((resolve, reject) => {
  const subscription = artifact('Subscription');
  requestSubscription(environment, { subscription, variables: {}, onNext: resolve, onError: reject });
});
await new Promise((resolve) => socket.on('connected', resolve));
await new Promise((resolve) => setTimeout(resolve, 200)); // until the server has started the subscription
await fetch(`${url}/pets/2`, {
  method: 'PATCH',
  headers: { 'content-type': 'application/json', 'x-api-key': key },
  body: JSON.stringify({ name: 'Live' }),
});
report({ seen, change: await change, live: names(), category: shelf().name, order: data().order });
await socket.dispose();
