import { PETS } from './database.mjs';

/**
 * The workloads, in the order in which they run.
 * @typedef {object} Work
 * @property {string} name its name for `--work`
 * @property {string} title its row in the table
 * @property {'graphql' | 'rest'} face
 * @property {boolean} [once] whether a request is sent again only after many thousand other requests
 * @property {boolean} [filters] whether it uses filters and totals, which only the gateway supports
 * @property {boolean} [writes] whether it writes rows. Its responses then contain an id that the server assigned
 * @property {(i: number) => { method: string, path: string, body?: object, headers?: object }} request the i-th request of a
 * deterministic sequence
 */

/** The Accept header of each interface: Apollo Client's, and a REST client's. */
export const accept = {
  graphql: 'application/graphql-response+json,application/json;q=0.9',
  rest: 'application/json',
};

/** Requests all pets equally often, since 7919 is coprime to the number of pets. */
const petId = (i) => 1 + ((i * 7919) % PETS);
const categoryId = (i) => 1 + (i % 50);

/** A GraphQL workload: one operation, sent as Apollo Client sends it. */
function graphql(name, title, query, variables = () => ({}), more = {}) {
  const [, operationName] = /^\w+ (\w+)/.exec(query);
  const request = (i) => ({
    method: 'POST',
    path: '/graphql',
    body: { operationName, variables: variables(i), query },
  });
  return { name, title, face: 'graphql', request, ...more };
}

/** The next number to write into a document. Counting begins at the current time, so that no earlier run used the number. */
let number = Date.now() * 1000;

/** A GraphQL workload whose requests have a number in the text of the document, so that each document is new. */
function unseen(name, title, queryOf, more = {}) {
  const request = () => ({ method: 'POST', path: '/graphql', body: { query: queryOf(number++) } });
  return { name, title, face: 'graphql', request, once: true, ...more };
}

/** Counts pets by a name that no pet has: the workload measures how a new document is handled, not the search. */
const countOf = (id) => `pets(filter: { name: "zzqx${id}" }) { totalCount }`;

/** @type {Work[]} */
export const works = [
  graphql('pet', 'one pet by id', 'query Pet($id: ID!) { pet(id: $id) { id name status } }', (i) => ({
    id: String(petId(i)),
  })),
  graphql(
    'pet-category',
    'pet with its category',
    'query PetWithCategory($id: ID!) { pet(id: $id) { id name status category { id name } } }',
    (i) => ({ id: String(petId(i)) }),
  ),
  graphql(
    'pets',
    '50 pets, each with category name',
    'query Pets { pets(first: 50) { nodes { id name status category { name } } } }',
  ),
  graphql(
    'categories',
    '20 categories × first 10 pets',
    'query Categories { categories(first: 20) { nodes { id name pets(first: 10) { nodes { id name status } } } } }',
  ),
  unseen('unseen', 'one pet, in a document never seen', (id) => `{ pet(id: "${id}") { id name status } }`),
  unseen('unseen-count', 'count by name, in a document never seen', (id) => `{ ${countOf(id)} }`, { filters: true }),
  unseen(
    'unseen-counts',
    '12 counts by name, in a document never seen',
    (id) => {
      const counts = Array.from({ length: 12 }, (_, index) => `c${index}: ${countOf(`${id}${index}`)}`);
      return `{ ${counts.join(' ')} }`;
    },
    { filters: true },
  ),

  { name: 'rest-pet', title: 'REST: one pet', face: 'rest', request: (i) => get(`/pets/${petId(i)}`) },
  { name: 'rest-pets', title: 'REST: 50 pets', face: 'rest', request: () => get('/pets?limit=50') },
  graphql(
    'create-pet',
    'createPet',
    'mutation CreatePet($input: NewPet!) { createPet(input: $input) { id name status } }',
    (i) => ({ input: { name: `New pet ${i}`, categoryId: String(categoryId(i)), status: 'pending' } }),
    { writes: true },
  ),
  graphql(
    'place-order',
    'placeOrder (order + stock)',
    'mutation PlaceOrder($input: NewOrder!) { placeOrder(input: $input) { id petId quantity complete } }',
    (i) => ({ input: { petId: String(petId(i)), quantity: 1 } }),
    { writes: true },
  ),
  {
    name: 'rest-create-pet',
    title: 'REST: create pet',
    face: 'rest',
    writes: true,
    request: (i) => ({
      method: 'POST',
      path: '/pets',
      body: { name: `New pet ${i}`, categoryId: categoryId(i), status: 'pending' },
    }),
  },
];

function get(path) {
  return { method: 'GET', path };
}
