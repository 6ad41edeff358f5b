import { ApolloClient, ApolloLink, CombinedGraphQLErrors, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { Client, cacheExchange, fetchExchange, subscriptionExchange } from '@urql/core';
import { OperationTypeNode } from 'graphql';
import { createClient as createStreamClient } from 'graphql-sse';
import { createClient as createSocketClient } from 'graphql-ws';
import { Environment, type GraphQLResponse, Network, Observable, RecordSource, Store } from 'relay-runtime';

/** Clients with their default options, run by a page in Chromium. The test calls the functions of `window.clients`. */

const QUERY = '{ pets(first: 1) { nodes { id name } } }';
const MUTATION = 'mutation { updatePet(id: 1, input: { status: pending }) { id status } }';
const SUBSCRIPTION = 'subscription { petChanged { kind petId pet { id name } } }';

/** What an operation has led to: its data, or the codes of its errors. */
type Outcome = { data: unknown } | { codes: unknown[] };

interface Sink {
  next(data: unknown): void;
  over(how: unknown): void;
}

interface Tried {
  query(): Promise<Outcome>;
  /** Sends any document. */
  ask?(document: string): Promise<Outcome>;
  mutate?(): Promise<Outcome>;
  subscribe?(sink: Sink): void;
}

interface GraphQLErrors {
  readonly data?: unknown;
  readonly errors?: readonly { readonly extensions?: { readonly code?: unknown } }[] | undefined;
}

const outcomeOf = ({ data, errors }: GraphQLErrors): Outcome =>
  errors ? { codes: errors.map(({ extensions }) => extensions?.code) } : { data };

const keyHeaders = (key: string | undefined): Record<string, string> => (key ? { 'X-API-Key': key } : {});
const socketUrl = (url: string) => `${url.replace('http', 'ws')}/graphql`;

function apollo(url: string, key?: string): Tried {
  const socket = createSocketClient({ url: socketUrl(url), connectionParams: keyHeaders(key) });
  const client = new ApolloClient({
    cache: new InMemoryCache(),
    link: ApolloLink.split(
      ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
      new GraphQLWsLink(socket),
      new HttpLink({ uri: `${url}/graphql`, headers: keyHeaders(key) }),
    ),
  });
  const caught = (error: unknown): Outcome => {
    if (!CombinedGraphQLErrors.is(error)) throw error;
    return outcomeOf(error);
  };
  return {
    query: () => client.query({ query: gql(QUERY), fetchPolicy: 'network-only' }).then(outcomeOf, caught),
    mutate: () => client.mutate({ mutation: gql(MUTATION) }).then(outcomeOf, caught),
    subscribe: ({ next, over }) =>
      void client.subscribe({ query: gql(SUBSCRIPTION) }).subscribe({
        next: ({ data, error }) => (error ? over(caught(error)) : next(data)),
        error: over,
        complete: () => over('complete'),
      }),
  };
}

function urql(url: string, key?: string): Tried {
  const socket = createSocketClient({ url: socketUrl(url), connectionParams: keyHeaders(key) });
  const client = new Client({
    url: `${url}/graphql`,
    exchanges: [
      cacheExchange,
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: ({ query, variables }) => ({
          subscribe: (sink) => ({
            unsubscribe: socket.subscribe(
              { query: query ?? '', variables: variables as Record<string, unknown> },
              sink,
            ),
          }),
        }),
      }),
    ],
    fetchOptions: { headers: keyHeaders(key) },
  });
  const outcome = ({
    data,
    error,
  }: {
    data?: unknown;
    error?: { graphQLErrors: GraphQLErrors['errors']; networkError?: unknown } | undefined;
  }) => {
    if (error?.networkError) throw error.networkError;
    return outcomeOf({ data, errors: error?.graphQLErrors });
  };
  return {
    query: () => client.query(QUERY, {}, { requestPolicy: 'network-only' }).toPromise().then(outcome),
    mutate: () => client.mutation(MUTATION, {}).toPromise().then(outcome),
    subscribe: ({ next, over }) =>
      void client
        .subscription(SUBSCRIPTION, {})
        .subscribe((result) => (result.error ? over(outcome(result)) : next(result.data))),
  };
}

/** Relay itself sends nothing: the network layer is the application's, as in the guide. */
function relay(url: string, key?: string): Tried {
  const socket = createSocketClient({ url: socketUrl(url), connectionParams: keyHeaders(key) });
  const network = Network.create(
    async ({ text }, variables) => {
      const headers = { 'content-type': 'application/json', ...keyHeaders(key) };
      const response = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ query: text, variables }),
      });
      return response.json();
    },
    ({ text }) =>
      Observable.create<GraphQLResponse>((sink) =>
        socket.subscribe(
          { query: String(text) },
          {
            next: (answer) => sink.next(answer as GraphQLResponse),
            error: (error) => sink.error(error as Error),
            complete: () => sink.complete(),
          },
        ),
      ),
  );
  const environment = new Environment({ network, store: new Store(new RecordSource()) });
  const run = (text: string) => {
    const kind = text === MUTATION ? 'mutation' : text === SUBSCRIPTION ? 'subscription' : 'query';
    const request = { cacheID: text, id: null, metadata: {}, name: 'Any', operationKind: kind, text };
    return environment.getNetwork().execute(request as never, {}, {});
  };
  const once = (text: string) =>
    run(text)
      .toPromise()
      .then((answer) => outcomeOf(answer as GraphQLErrors));
  return {
    query: () => once(QUERY),
    mutate: () => once(MUTATION),
    subscribe: ({ next, over }) =>
      void run(SUBSCRIPTION).subscribe({
        next: (answer) => next((answer as GraphQLErrors).data),
        error: over,
        complete: () => over('complete'),
      }),
  };
}

interface IteratingClient {
  subscribe(
    payload: { query: string },
    sink: { next(value: unknown): void; error(error: unknown): void; complete(): void },
  ): () => void;
}

/** A client whose operations of all kinds are subscriptions. */
function iterating(client: IteratingClient): Tried {
  const once = (query: string) =>
    new Promise<Outcome>((resolve, reject) => {
      client.subscribe(
        { query },
        {
          next: (answer) => resolve(outcomeOf(answer as GraphQLErrors)),
          error: (error) => (Array.isArray(error) ? resolve(outcomeOf({ errors: error })) : reject(error)),
          complete: () => undefined,
        },
      );
    });
  return {
    query: () => once(QUERY),
    ask: once,
    mutate: () => once(MUTATION),
    subscribe: ({ next, over }) =>
      void client.subscribe(
        { query: SUBSCRIPTION },
        {
          next: (answer) => next((answer as GraphQLErrors).data),
          error: (error) => over(Array.isArray(error) ? outcomeOf({ errors: error }) : error),
          complete: () => over('complete'),
        },
      ),
  };
}

function graphqlWs(url: string, key?: string): Tried {
  return iterating(createSocketClient({ url: socketUrl(url), connectionParams: keyHeaders(key) }) as IteratingClient);
}

function graphqlSse(url: string, key?: string): Tried {
  return iterating(createStreamClient({ url: `${url}/graphql/stream`, headers: keyHeaders(key) }) as IteratingClient);
}

/** EventSource sends neither headers nor mutations. */
function eventSource(url: string): Tried {
  const open = (query: string) => new EventSource(`${url}/graphql/stream?${new URLSearchParams({ query })}`);
  const ask = (document: string) =>
    new Promise<Outcome>((resolve, reject) => {
      const source = open(document);
      source.addEventListener('next', ({ data }) => resolve(outcomeOf(JSON.parse(data))));
      source.addEventListener('complete', () => source.close());
      source.addEventListener('error', () => source.readyState === EventSource.CLOSED && reject(new Error('closed')));
    });
  return {
    query: () => ask(QUERY),
    ask,
    subscribe: ({ next, over }) => {
      const source = open(SUBSCRIPTION);
      source.addEventListener('next', ({ data }) => next(JSON.parse(data).data));
      source.addEventListener('error', () => source.readyState === EventSource.CLOSED && over('closed'));
    },
  };
}

function plainFetch(url: string, key?: string): Tried {
  const send = async (query: string) => {
    const headers = { 'content-type': 'application/json', ...keyHeaders(key) };
    const response = await fetch(`${url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) });
    return outcomeOf(await response.json());
  };
  const get = async () => {
    const parameters = new URLSearchParams({ query: QUERY, variables: '', operationName: '' });
    return outcomeOf(await (await fetch(`${url}/graphql?${parameters}`, { headers: keyHeaders(key) })).json());
  };
  return { query: get, mutate: () => send(MUTATION) };
}

const CLIENTS: Record<string, (url: string, key?: string) => Tried> = {
  apollo,
  urql,
  relay,
  'graphql-ws': graphqlWs,
  'graphql-sse': graphqlSse,
  EventSource: eventSource,
  fetch: plainFetch,
};

const shown = (value: unknown): unknown =>
  value instanceof CloseEvent
    ? `closed with ${value.code}`
    : value instanceof Error || value instanceof Event
      ? String(value)
      : value;
const failed = (error: unknown) => ({ failed: shown(error) });

/** What subscriptions have received and how they have ended, by the name of the client. */
const received: Record<string, { events: unknown[]; over: unknown[] }> = {};

Object.assign(window, {
  clients: {
    query: (name: string, url: string, key?: string) => CLIENTS[name]?.(url, key).query().catch(failed),
    ask: (name: string, url: string, document: string) => CLIENTS[name]?.(url).ask?.(document).catch(failed),
    mutate: (name: string, url: string, key?: string) => CLIENTS[name]?.(url, key).mutate?.().catch(failed),
    subscribe: (name: string, url: string, key?: string) => {
      const mine = { events: [] as unknown[], over: [] as unknown[] };
      received[name] = mine;
      CLIENTS[name]?.(url, key).subscribe?.({
        next: (data) => mine.events.push(data),
        over: (how) => mine.over.push(shown(how)),
      });
    },
    received,
  },
});
