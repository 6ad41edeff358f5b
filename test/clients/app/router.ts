import { ApolloGateway, IntrospectAndCompose, RemoteGraphQLDataSource } from '@apollo/gateway';
import { ApolloServer } from '@apollo/server';
import { ApolloServerPluginInlineTraceDisabled } from '@apollo/server/plugin/disabled';
import { startStandaloneServer } from '@apollo/server/standalone';
import { GraphQLError } from 'graphql';
import { reviews } from './reviews.js';
import { key, report, url } from './run.js';

const theirs = new ApolloServer({ schema: reviews, plugins: [ApolloServerPluginInlineTraceDisabled()] });
const { url: reviewsUrl } = await startStandaloneServer(theirs, { listen: { port: 0 } });

interface UserContext {
  /** The API key that came with the user's request. */
  userKey?: string | undefined;
}
type Options = Parameters<RemoteGraphQLDataSource<UserContext>['process']>[0];

class Petstore extends RemoteGraphQLDataSource<UserContext> {
  /** Asks for at most a hundred entities at once. */
  override async process(options: Options) {
    const { request } = options;
    const wanted: object[] = request.variables?.representations ?? [];
    if (wanted.length <= 100) return super.process(options);
    const pages = Array.from({ length: Math.ceil(wanted.length / 100) }, (_, page) =>
      wanted.slice(page * 100, page * 100 + 100),
    );
    const ask = (representations: object[]) =>
      super.process({ ...options, request: { ...request, variables: { ...request.variables, representations } } });
    const answers = await Promise.all(pages.map(ask));
    const data = { _entities: answers.flatMap((answer) => answer.data?._entities ?? []) };
    return { ...answers[0], data, errors: answers.flatMap(({ errors = [] }) => errors) };
  }

  /** An error keeps its code and details: RATE_LIMITED, UNAUTHENTICATED. */
  override async errorFromResponse(response: Parameters<RemoteGraphQLDataSource['errorFromResponse']>[0]) {
    const { errors } = await response.json();
    return new GraphQLError(errors[0].message, { extensions: errors[0].extensions });
  }
}

/** Each user has a key of the petstore: its scopes and its quota hold. */
class AsTheUser extends Petstore {
  override willSendRequest({ request, context }: Options) {
    if (context.userKey) request.http?.headers.set('x-api-key', context.userKey);
  }
}

/** The router has one key for all users: its scopes hold, and they share its quota. */
class AsTheRouter extends Petstore {
  override willSendRequest({ request }: Options) {
    request.http?.headers.set('x-api-key', key);
  }
}

function routerFor(Source: typeof Petstore) {
  const gateway = new ApolloGateway({
    supergraphSdl: new IntrospectAndCompose({
      subgraphs: [
        { name: 'petstore', url: `${url}/graphql` },
        { name: 'reviews', url: reviewsUrl },
      ],
    }),
    buildService: ({ name, url }) => (name === 'petstore' ? new Source({ url }) : new RemoteGraphQLDataSource({ url })),
  });
  return new ApolloServer<UserContext>({ gateway });
}

/** Starts a router. @returns what asks it as a user does: for data, or the code of an error. */
async function start(Source: typeof Petstore) {
  const router = routerFor(Source);
  const { url } = await startStandaloneServer(router, {
    listen: { port: 0 },
    context: async ({ req }) => ({ userKey: req.headers['x-api-key']?.toString() }),
  });
  const ask = async (query: string, headers: Record<string, string> = {}) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query }),
    });
    const { data, errors } = await response.json();
    return errors ? errors.map(({ extensions }: { extensions: { code: string } }) => extensions.code) : data;
  };
  return { ask, stop: () => router.stop() };
}

const REVIEWS = '{ reviews { nodes { stars pet { name category { name } } } pageInfo { hasNextPage } } }';
const asTheUser = await start(AsTheUser);
const asTheRouter = await start(AsTheRouter);
const userKey = { 'x-api-key': process.env.USER_KEY ?? '' };

const { nodes, pageInfo } = (await asTheRouter.ask(REVIEWS)).reviews;
const viewer = async (ask: typeof asTheUser.ask, headers = {}) =>
  (await ask('{ viewer { apiKey { name } } }', headers)).viewer.apiKey?.name ?? null;
report({
  reviewed: [nodes.length, nodes[0], nodes[249]],
  pages: pageInfo,
  starred: await asTheRouter.ask('{ pets(first: 2) { nodes { name stars } pageInfo { hasNextPage } } }'),
  renamed: await asTheRouter.ask('mutation { updatePet(id: 2, input: { name: "Routed" }) { name stars } }'),
  refused: await asTheRouter.ask('mutation { updatePet(id: 2, input: { name: "" }) { name } }'),
  viewers: [await viewer(asTheRouter.ask, userKey), await viewer(asTheUser.ask, userKey), await viewer(asTheUser.ask)],
  users: [
    (await asTheUser.ask(REVIEWS, userKey)).reviews.nodes.length,
    await asTheUser.ask('{ pet(id: 1) { name } }', userKey),
    await asTheUser.ask('mutation { deletePet(id: 2) { name } }', userKey),
    await asTheUser.ask('{ pet(id: 1) { name } }', userKey),
    await asTheUser.ask('{ pet(id: 1) { name } }', { 'x-api-key': 'wrong' }),
  ],
});
await Promise.all([asTheUser.stop(), asTheRouter.stop(), theirs.stop()]);
