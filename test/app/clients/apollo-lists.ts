import { ApolloClient, gql, HttpLink } from '@apollo/client';
import { cache } from './apollo-cache.js';
import { key, report, url } from './run.js';

/** Warnings and errors that Apollo Client logs, such as lost data in the cache. */
const warnings: string[] = [];
console.warn = console.error = (...words: unknown[]) => warnings.push(words.map(String).join(' '));

const link = new HttpLink({ uri: `${url}/graphql`, headers: { 'x-api-key': key } });
const client = new ApolloClient({ cache, link });

interface Page {
  edges: { node: { id?: string; petId?: string; name?: string } }[];
  pageInfo: { hasNextPage: boolean; endCursor: string };
}

/** Reads all pages of a list, two rows at a time. @param list returns the list in a response. @returns the cached rows. */
async function wholeList(text: string, list: (data: object) => Page) {
  const query = gql(text);
  const variables = { after: null };
  const watched = client.watchQuery<object>({ query, variables });
  watched.subscribe(() => undefined);
  const shown = () => list(client.readQuery<object>({ query }) ?? {});
  // Has the same variables as the watched query, so both share one request. The response to a second request could
  // replace the next page.
  await client.query({ query, variables });
  for (let more = 9; more && shown().pageInfo.hasNextPage; more--)
    await watched.fetchMore({ variables: { after: shown().pageInfo.endCursor } });
  return shown().edges.map(({ node }) => node.name ?? node.id ?? node.petId);
}

const page = 'pageInfo { hasNextPage endCursor }';
const ofQuery = (name: string) => (data: object) => (data as Record<string, Page>)[name] as Page;
const inside = (one: string, name: string) => (data: object) =>
  (data as Record<string, Record<string, Page>>)[one]?.[name] as Page;
const list = (name: string, node: string) =>
  wholeList(
    `query($after: String) { ${name}(first: 2, after: $after) { edges { node { ${node} } } ${page} } }`,
    ofQuery(name),
  );
const innerList = (one: string, name: string, node: string) =>
  wholeList(
    `query($after: String) { ${one}(id: 1) { id ${name}(first: 2, after: $after) { edges { node { ${node} } } ${page} } } }`,
    inside(one, name),
  );

const lists = {
  pets: await list('pets', 'id name'),
  categories: await list('categories', 'id name'),
  orders: await list('orders', 'id'),
  inventory: await list('inventory', 'petId quantity'),
  apiKeys: await list('apiKeys', 'id name'),
  ofCategory: await innerList('category', 'pets', 'id name'),
  ofPet: await innerList('pet', 'orders', 'id'),
};

/** Runs two queries, one after the other. @returns the first result, read from the cache after the second query. */
async function asked(first: string, second: string) {
  const query = gql(first);
  await client.query({ query });
  await client.query({ query: gql(second) });
  return client.readQuery<object>({ query });
}

const { data: pet } = await client.query<{ pet: { nodeId: string } }>({ query: gql`{ pet(id: 1) { id nodeId } }` });
const NODE = gql`
  query Node($id: ID!) {
    node(id: $id) {
      ...Identified
      ... on Pet { id name }
    }
  }
  fragment Identified on Node { nodeId }
`;
const variables = { id: pet?.pet.nodeId };
const { data: found } = await client.query<object>({ query: NODE, variables });

report({
  lists,
  viewer: await asked('{ viewer { plan rateLimit { plan } } }', '{ viewer { scopes rateLimit { cost } } }'),
  rateLimit: await asked('{ rateLimit { plan } }', '{ rateLimit { windows { name } } }'),
  isNodeFound: JSON.stringify(found) === JSON.stringify(client.readQuery({ query: NODE, variables })),
  node: found,
  warnings,
});
client.stop();
