import type { Scenario } from '../scenario';

const CREATE_PET =
  'mutation ($input: NewPet!) { createPet(input: $input) { id name status categoryId category { name } } }';
const UPDATE_PET =
  'mutation ($id: ID!, $input: PetUpdate!) { updatePet(id: $id, input: $input) { id name status categoryId category { name } } }';
const DELETE_PET =
  'mutation ($id: ID!) { deletePet(id: $id) { id name status inventory { quantity } category { name } orders { totalCount } } }';
const CREATE_CATEGORY =
  'mutation ($input: NewCategory!) { createCategory(input: $input) { id name description pets { totalCount } } }';
const UPDATE_CATEGORY =
  'mutation ($id: ID!, $input: CategoryUpdate!) { updateCategory(id: $id, input: $input) { id name description } }';
const DELETE_CATEGORY = 'mutation ($id: ID!) { deleteCategory(id: $id) { id name description pets { totalCount } } }';
const PLACE =
  'mutation ($input: NewOrder!) { placeOrder(input: $input) { id petId quantity shipDate complete pet { inventory { quantity } } } }';
const UPDATE_ORDER =
  'mutation ($id: ID!, $input: OrderUpdate!) { updateOrder(id: $id, input: $input) { id petId quantity shipDate complete pet { inventory { quantity } } } }';
const CANCEL =
  'mutation ($id: ID!) { cancelOrder(id: $id) { id petId quantity complete pet { name inventory { quantity } } } }';
const SET =
  'mutation ($petId: ID!, $input: InventoryUpdate!) { setInventory(petId: $petId, input: $input) { petId quantity status pet { name } } }';
const REMOVE =
  'mutation ($petId: ID!) { removeInventory(petId: $petId) { petId quantity status pet { name inventory { quantity } } } }';

const NO_SUCH_PET = '9223372036854775807';

/** A mutation. Successful creations come first in each list, because a failed creation may use up an id. */
type Step = [query: string, variables: object];

const PETS: Step[] = [
  [CREATE_PET, { input: { name: '  Max\t', categoryId: 1 } }],
  [CREATE_PET, { input: { name: '👩‍👩‍👧 "quoted" \\ \u0001\n\u2028', categoryId: '2', status: 'sold' } }],
  [CREATE_PET, { input: { name: '🐕'.repeat(255), categoryId: 2, status: null } }],
  [CREATE_PET, { input: { name: '🐕'.repeat(256), categoryId: 2 } }],
  [CREATE_PET, { input: { name: '', categoryId: 1 } }],
  [CREATE_PET, { input: { name: ' \n', categoryId: 0 } }],
  [CREATE_PET, { input: { name: 'a\u0000b', categoryId: 1 } }],
  [CREATE_PET, { input: { name: 'a\ud83d', categoryId: 1 } }],
  [CREATE_PET, { input: { name: 1, categoryId: true, status: 'Sold', id: 5 } }],
  [CREATE_PET, { input: { name: null } }],
  [CREATE_PET, { input: {} }],
  [CREATE_PET, { input: null }],
  [CREATE_PET, { input: [{ name: 'Max', categoryId: 1 }] }],
  [CREATE_PET, { input: { name: 'Max', categoryId: 99 } }],
  [CREATE_PET, { input: { name: 'Max', categoryId: NO_SUCH_PET } }],
  [UPDATE_PET, { id: 1, input: {} }],
  [UPDATE_PET, { id: 1, input: { name: ' Rexy ', status: 'sold' } }],
  [UPDATE_PET, { id: 1, input: { categoryId: '2' } }],
  [UPDATE_PET, { id: 1, input: { name: null, status: null, categoryId: null } }],
  [UPDATE_PET, { id: 1, input: { name: '', categoryId: 99 } }],
  [UPDATE_PET, { id: 1, input: { name: 'Never', categoryId: 99 } }],
  [UPDATE_PET, { id: NO_SUCH_PET, input: { name: 'Never', categoryId: 99 } }],
  [UPDATE_PET, { id: 'x', input: { name: 5 } }],
  [DELETE_PET, { id: 1 }],
  [DELETE_PET, { id: 2 }],
  [DELETE_PET, { id: 2 }],
  [DELETE_PET, { id: 0 }],
];

const CATEGORIES: Step[] = [
  [CREATE_CATEGORY, { input: { name: ' Fish ', description: '  Wet \n and "cold" \\ 🐟 ' } }],
  [CREATE_CATEGORY, { input: { name: 'Fish', description: null } }],
  [CREATE_CATEGORY, { input: { name: 'Fish', description: '' } }],
  [CREATE_CATEGORY, { input: { name: 'x'.repeat(256), description: 'y'.repeat(2001) } }],
  [CREATE_CATEGORY, { input: { name: 'Fish', description: 'a\u0000' } }],
  [UPDATE_CATEGORY, { id: 2, input: { description: 'Purr' } }],
  [UPDATE_CATEGORY, { id: 2, input: { description: null } }],
  [UPDATE_CATEGORY, { id: 2, input: { name: null } }],
  [UPDATE_CATEGORY, { id: 99, input: { name: 'Never' } }],
  [DELETE_CATEGORY, { id: 3 }],
  [DELETE_CATEGORY, { id: 99 }],
];

const ORDERS: Step[] = [
  [PLACE, { input: { petId: 3, quantity: 5, shipDate: '2024-03-31T23:59:59.9996-01:30' } }],
  [PLACE, { input: { petId: 3 } }],
  [PLACE, { input: { petId: 8, quantity: 2147483647 } }],
  [PLACE, { input: { complete: null, quantity: null, petId: null, shipDate: null } }],
  [PLACE, { input: { petId: 3, quantity: 1 } }],
  [PLACE, { input: { petId: NO_SUCH_PET, quantity: 1 } }],
  [PLACE, { input: { quantity: 0, petId: 0, shipDate: '2023-02-30T00:00:00Z' } }],
  [PLACE, { input: { quantity: 2147483648 } }],
  [PLACE, { input: { quantity: 1.5, complete: 'yes' } }],
  ...[
    '2024-01-01',
    '2024-01-01T00:00:00',
    '2024-01-01T24:00:00Z',
    '2024-12-31T23:59:60Z',
    '2024-01-01 00:00:00Z',
    '10000-01-01T00:00:00Z',
    'tomorrow',
    '',
    1704067200,
  ].map((shipDate): Step => [PLACE, { input: { shipDate } }]),
  [UPDATE_ORDER, { id: 1, input: { quantity: 3 } }],
  [UPDATE_ORDER, { id: 1, input: { quantity: 6 } }],
  [UPDATE_ORDER, { id: 1, input: { petId: 4, shipDate: '2025-05-05T05:05:05.5Z' } }],
  [UPDATE_ORDER, { id: 1, input: { shipDate: null, quantity: null } }],
  [UPDATE_ORDER, { id: 1, input: { petId: null } }],
  [UPDATE_ORDER, { id: 1, input: { complete: null } }],
  [UPDATE_ORDER, { id: 1, input: { petId: 99 } }],
  [UPDATE_ORDER, { id: 1, input: { quantity: -1 } }],
  [UPDATE_ORDER, { id: 5, input: { petId: 5, quantity: 1, complete: true } }],
  [UPDATE_ORDER, { id: 5, input: { quantity: 2 } }],
  [UPDATE_ORDER, { id: 5, input: { petId: null } }],
  [UPDATE_ORDER, { id: 5, input: { petId: 5, quantity: 1, shipDate: '2025-01-01T00:00:00Z' } }],
  [UPDATE_ORDER, { id: 5, input: {} }],
  [UPDATE_ORDER, { id: 99, input: { quantity: 0 } }],
  [UPDATE_ORDER, { id: 99, input: { quantity: 1 } }],
  [CANCEL, { id: 5 }],
  [CANCEL, { id: 4 }],
  [CANCEL, { id: 99 }],
];

const STOCK: Step[] = [
  [SET, { petId: 7, input: { quantity: 7 } }],
  [SET, { petId: 7, input: { quantity: 0 } }],
  [SET, { petId: 7, input: { quantity: 2147483647 } }],
  [SET, { petId: 7, input: { quantity: -1 } }],
  [SET, { petId: 7, input: { quantity: 2147483648 } }],
  [SET, { petId: 7, input: { quantity: null } }],
  [SET, { petId: 99, input: { quantity: 1 } }],
  [SET, { petId: 99, input: { quantity: -1 } }],
  [REMOVE, { petId: 7 }],
  [REMOVE, { petId: 7 }],
  [REMOVE, { petId: 99 }],
];

/** Changes of rows created by the steps above: pet 13, category 4, and order 7, which took the whole stock of pet 3. */
const TOGETHER: Step[] = [
  [UPDATE_PET, { id: 13, input: { name: 'Maxi', categoryId: 4 } }],
  [DELETE_CATEGORY, { id: 4 }],
  [DELETE_PET, { id: 13 }],
  [DELETE_CATEGORY, { id: 4 }],
  [CANCEL, { id: 7 }],
];

const SEVERAL = [
  'mutation { a: deletePet(id: 99) { id } b: updateCategory(id: 1, input: { name: "Hounds" }) { name } c: placeOrder(input: { petId: 6, quantity: 99 }) { id } d: setInventory(petId: 8, input: { quantity: 1 }) { quantity } }',
  'mutation { a: updatePet(id: 3, input: { name: "One" }) { name } b: updatePet(id: 3, input: { name: "Two" }) { name } c: updatePet(id: 3, input: { name: "" }) { name } d: updatePet(id: 3, input: {}) { name } }',
  'mutation { updatePet(id: 3, input: { name: "Three" }) { id } updatePet(id: 3, input: { name: "Three" }) { name } }',
  'mutation { a: updatePet(id: 3, input: { name: "Four" }) { name category { pets(first: 0) { totalCount } } } b: updatePet(id: 3, input: {}) { name } }',
  'mutation { a: updatePet(id: 3, input: { name: "Five" }) { name } @skip(if: true) b: updatePet(id: 3, input: {}) { name } }',
  'mutation { a: updatePet(id: 3, input: { name: "Five" }) @skip(if: true) { name } b: updatePet(id: 3, input: {}) { name } }',
  'mutation { __typename }',
  'mutation { a: cancelOrder(id: 99) { id } b: removeInventory(petId: 99) { petId } c: deleteCategory(id: 99) { id } }',
  'mutation { updatePet(id: 3, input: { name: "Six", owner: 1 }) { name } }',
  'mutation { updatePet(input: { name: "Six" }) { name } deletePet(id: 3) { id } }',
];

const EVERYTHING =
  '{ pets { nodes { id name status categoryId } } categories { nodes { id name description } } inventory { nodes { petId quantity status } } orders { nodes { id petId quantity shipDate complete } } }';

const RENAME =
  'mutation Rename($id: ID!, $name: String) { updatePet(id: $id, input: { name: $name }) { name status } }';

/** Requests with idempotency keys, in this order. */
const KEYED: [key: string, query: string, variables: object, title: string][] = [
  ['k1', RENAME, { id: 1, name: 'Once' }, 'first'],
  ['k1', RENAME, { id: 1, name: 'Once' }, 'replay'],
  ['k1', RENAME, { name: 'Once', id: 1 }, 'the variables in another order'],
  ['k1', RENAME.replaceAll(' {', '  {\n'), { id: 1, name: 'Once' }, 'another spelling'],
  ['"k1"', RENAME, { id: 1, name: 'Once' }, 'the key in quotes'],
  ['k1', RENAME, { id: 1, name: 'Twice' }, 'other variables'],
  ['k1', 'mutation { deletePet(id: 1) { id } }', {}, 'another operation'],
  ['k1', '{ pet(id: 1) { name } }', {}, 'a query'],
  ['k2', RENAME, { id: 99, name: 'Nobody' }, 'not found'],
  ['k2', RENAME, { id: 99, name: 'Nobody' }, 'not found, replayed'],
  ['k3', RENAME, { id: 1, name: '' }, 'bad input'],
  ['k3', RENAME, { id: 1, name: 'Corrected' }, 'corrected'],
  ['k3', RENAME, { id: 1, name: 'Corrected' }, 'corrected, replayed'],
  ['k4', RENAME, { id: 'x' }, 'bad variables'],
  ['k4', 'mutation { updatePet }', {}, 'an invalid document'],
  ['k4', 'mutation { placeOrder(input: { petId: 2, quantity: 1 }) { id } }', {}, 'no stock'],
  ['k4', 'mutation { placeOrder(input: { petId: 2, quantity: 1 }) { id } }', {}, 'no stock, replayed'],
  ['', RENAME, { id: 1, name: 'Empty' }, 'an empty key'],
  ['two words', RENAME, { id: 1, name: 'Words' }, 'a key with a space'],
  ['k'.repeat(256), RENAME, { id: 1, name: 'Long' }, 'a key that is too long'],
  ['k'.repeat(255), RENAME, { id: 1, name: 'Longest' }, 'the longest key'],
  ['k5', 'mutation { createApiKey(input: { name: "secret" }) { secret } }', {}, 'an operation with the scope ADMIN'],
  ['k6', RENAME, { id: 1, name: 'Later' }, 'a new key'],
];

export const scenarios: Scenario[] = [
  {
    name: 'graphql mutations',
    run: async (net) => {
      await net.shop();
      for (const [query, variables] of [...PETS, ...CATEGORIES, ...ORDERS, ...STOCK, ...TOGETHER])
        await net.graphql(query, variables);
      for (const query of SEVERAL) await net.graphql(query);
      await net.graphql(EVERYTHING);
    },
  },
  {
    name: 'graphql idempotency keys',
    run: async (net) => {
      await net.shop();
      for (const [key, query, variables, title] of KEYED)
        await net.graphql(query, variables, { headers: { 'idempotency-key': key }, title });
      const writer = await net.key('writer');
      await net.graphql(
        RENAME,
        { id: 1, name: 'Writer' },
        { as: writer, headers: { 'idempotency-key': 'k1' }, title: 'the same key of another caller' },
      );
      await net.graphql('{ pet(id: 1) { name } orders(last: 1) { nodes { id } } }');
    },
  },
];
