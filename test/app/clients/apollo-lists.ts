import { ApolloClient, gql, HttpLink } from '@apollo/client';
import { cache } from './apollo-cache.js';
import { key, report, url } from './run.js';

/** What Apollo Client finds wrong with the cache. */
const warnings: string[] = [];
console.warn = console.error = (...words: unknown[]) => warnings.push(words.map(String).join(' '));

const link = new HttpLink({ uri: `${url}/graphql`, headers: { 'x-api-key': key } });
const client = new ApolloClient({ cache, link });

interface Page {
  edges: { node: { id?: string; petId?: string; name?: string } }[];
  pageInfo: { hasNextPage: boolean; endCursor: string };
}

/** Reads a list to its end, two at a time. @param list where it is in what `query` answers. @returns how it is then shown. */
async function wholeList(text: string, list: (data: object) => Page) {
  const query = gql(text);
  const variables = { after: null };
  const watched = client.watchQuery<object>({ query, variables });
  watched.subscribe(() => undefined);
  const shown = () => list(client.readQuery<object>({ query }) ?? {});
  // With the same variables it is the watched request: a second one could answer after the next page, and replace it.
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

/** What two places of an application ask for, and what the first has when the second has its answer. */
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
