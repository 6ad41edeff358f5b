import type { Net, Scenario } from '../scenario';

const SIZES = [1, 3, 5, 100];

/** Every list, with the field that identifies its items and the fields by which it can be sorted. */
const LISTS: [list: string, key: string, fields: string[]][] = [
  ['pets', 'id', ['ID', 'NAME']],
  ['categories', 'id', ['ID', 'NAME']],
  ['orders', 'id', ['ID', 'SHIP_DATE']],
  ['inventory', 'petId', ['PET_ID', 'QUANTITY']],
  ['category(id: 1) > pets', 'id', ['NAME']],
  ['pet(id: 1) > orders', 'id', ['SHIP_DATE']],
];

const FILTERED: [list: string, key?: string][] = [
  ['pets(filter: { ids: [11, 3, 1, 99, 3] } %)'],
  ['pets(filter: { ids: [11, 3, 1, 8] }, orderBy: { field: NAME, direction: DESC } %)'],
  ['pets(filter: { ids: [] } %)'],
  ['pets(filter: { statuses: [sold] } %)'],
  ['pets(filter: { statuses: [sold, available, sold] }, orderBy: { field: NAME } %)'],
  ['pets(filter: { categoryIds: [3, 1] }, orderBy: { field: NAME } %)'],
  ['pets(filter: { categoryIds: 2, statuses: pending } %)'],
  ['pets(filter: { name: "t" }, orderBy: { direction: DESC } %)'],
  ['pets(filter: { name: "TO" } %)'],
  ['pets(filter: { name: "igg" } %)'],
  ['pets(filter: { name: " tig " }, orderBy: { field: NAME } %)'],
  ['pets(filter: { name: "ÄR" } %)'],
  ['pets(filter: { name: "ö" } %)'],
  ['pets(filter: { name: "\\u0025" } %)'],
  ['pets(filter: { name: "T_m" } %)'],
  ['pets(filter: { name: "\\\\" } %)'],
  ['pets(filter: { name: "" } %)'],
  ['pets(filter: { name: "rex", categoryIds: [1], statuses: [available] } %)'],
  ['pets(filter: {} %)'],
  ['pets(filter: null, orderBy: null %)'],
  ['pets(filter: { ids: null, name: null } %)'],
  ['categories(filter: { name: "d" } %)'],
  ['categories(filter: { ids: [3, 2] }, orderBy: { field: NAME, direction: DESC } %)'],
  ['orders(filter: { petIds: [1] } %)'],
  ['orders(filter: { petIds: [1, 6, 7] }, orderBy: { field: SHIP_DATE } %)'],
  ['orders(filter: { complete: true } %)'],
  ['orders(filter: { complete: false }, orderBy: { field: SHIP_DATE, direction: DESC } %)'],
  ['orders(filter: { ids: [6, 2, 9] }, orderBy: { field: SHIP_DATE } %)'],
  ['inventory(filter: { statuses: [available] } %)', 'petId'],
  ['inventory(filter: { petIds: [6, 4, 12] }, orderBy: { field: QUANTITY } %)', 'petId'],
  ['inventory(filter: { maxQuantity: 3 } %)', 'petId'],
  ['inventory(filter: { maxQuantity: 5, statuses: [sold, pending] }, orderBy: { field: QUANTITY } %)', 'petId'],
  ['inventory(filter: { maxQuantity: 0 } %)', 'petId'],
  ['category(id: 2) > pets(filter: { name: "tom" }, orderBy: { field: NAME, direction: DESC } %)'],
  ['category(id: 2) > pets(filter: { statuses: [sold, available] } %)'],
  ['category(id: 2) > pets(filter: { categoryIds: [1] } %)'],
  ['pet(id: 1) > orders(filter: { complete: false } %)'],
  ['pet(id: 1) > orders(filter: { ids: [1, 2] } %)'],
  ['order(id: 1) > pet > category > pets(%)'],
  ['inventoryItem(petId: 6) > pet > orders(%)'],
];

/** Page arguments that are rejected. */
const WRONG_PAGES = [
  'first: 0',
  'first: 101',
  'first: -1',
  'last: 0',
  'last: 101',
  'last: -2147483648',
  'first: 1, last: 1',
  'first: 0, last: 101, after: "x", before: ""',
  'first: 2147483648',
  'first: 1.5',
  'first: "1"',
  'last: true',
  'after: ""',
  'after: "not a cursor"',
  'before: ""',
  'before: "🐶"',
  'after: "AAAAAAAAAAAAAAAA"',
  'after: 1',
  'after: "@orders"',
  'after: "@name"',
  'before: "@name desc"',
  'after: "@desc"',
  'orderBy: { field: NAME }, after: "@id"',
  'orderBy: { field: SHIP_DATE }',
  'orderBy: { field: name }',
  'orderBy: "NAME"',
  'orderBy: { direction: null }',
  'orderBy: { field: NAME, extra: 1 }',
  'filter: { name: "a\\u0000" }',
  'filter: { ids: [0, "x", 1.5] }',
  'filter: { statuses: [Available] }',
  'filter: { statuses: [null] }',
  'filter: { unknown: 1 }',
  'filter: []',
];

/** Unusual page arguments that are accepted. */
const ODD_PAGES = [
  'first: null, last: 2',
  'first: 2, last: null, after: null, before: null',
  'first: 1, after: "@id", before: "@fourth"',
  'last: 1, after: "@id", before: "@fourth"',
  'first: 5, before: "@fourth"',
  'last: 5, after: "@id"',
  'after: "@fourth", before: "@id"',
  'first: 2, after: "@id", filter: { ids: [1] }',
  'filter: { ids: [5, 6] }, after: "@fourth"',
  'orderBy: {}, first: 1, after: "@id"',
  'orderBy: { direction: ASC }, first: 1, after: "@id"',
];

const CURSORS: [name: string, page: string][] = [
  ['id', 'pets(first: 1)'],
  ['fourth', 'pets(first: 1, filter: { ids: 4 })'],
  ['desc', 'pets(first: 1, orderBy: { direction: DESC })'],
  ['name', 'pets(first: 1, orderBy: { field: NAME })'],
  ['name desc', 'pets(first: 1, orderBy: { field: NAME, direction: DESC })'],
  ['orders', 'orders(first: 1)'],
];

async function cursors(net: Net): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const [name, page] of CURSORS) {
    const { json } = await net.exchange('POST', '/graphql', {
      body: { query: `{ list: ${page} { edges { cursor } } }` },
    });
    const { cursor } = json.data.list.edges[0];
    net.hide(cursor, `cursor ${name}`);
    found.set(name, cursor);
  }
  return found;
}

const PAGE = '{ nodes { id } pageInfo { hasNextPage hasPreviousPage } }';

export const scenarios: Scenario[] = [
  {
    name: 'graphql lists',
    run: async (net) => {
      await net.shop();
      for (const size of SIZES) {
        await net.walk('pets(%)', size);
        await net.walk('category(id: 1) > pets(%)', size, 'backward');
      }
      let turn = 0;
      const size = () => [3, 5, 2][turn++ % 3] as number;
      for (const [list, key, fields] of LISTS) {
        for (const field of fields) {
          for (const direction of ['ASC', 'DESC']) {
            const sorted = `${list}(orderBy: { field: ${field}, direction: ${direction} } %)`;
            await net.walk(sorted, size(), 'forward', key);
            await net.walk(sorted, size(), 'backward', key);
          }
        }
      }
      for (const [list, key] of FILTERED) await net.walk(list, 2, turn++ % 2 ? 'backward' : 'forward', key);
    },
  },
  {
    name: 'graphql pages',
    run: async (net) => {
      await net.shop();
      const known = await cursors(net);
      const filled = (page: string) => page.replace(/@([a-z ]+)/g, (_, name) => known.get(name) ?? '');
      for (const page of [...ODD_PAGES, ...WRONG_PAGES]) await net.graphql(`{ pets(${filled(page)}) ${PAGE} }`);
      for (const list of ['categories', 'orders', 'inventory'])
        await net.graphql(`{ ${list}(first: 0, after: "${known.get('id')}") { totalCount } }`);
      for (const page of ['first: 0', 'last: 101', 'first: 1, last: 1', `after: "@orders"`, 'after: ""'])
        await net.graphql(`{ category(id: 1) { name pets(${filled(page)}) ${PAGE} } order(id: 3) { id } }`);
      const afterOf = 'query ($after: String, $first: Int = 2) { pets(first: $first, after: $after) { nodes { id } } }';
      const after = known.get('id');
      for (const variables of [
        {},
        { after },
        { after, first: 1 },
        { first: 0 },
        { after: null, first: null },
        { after: 'x', first: 500 },
      ])
        await net.graphql(afterOf, variables);
      const counts = 'totalCount totalCountRelation';
      for (const query of [
        `{ pets(first: 1) { ${counts} } }`,
        '{ pets { totalCountRelation } }',
        `{ pets(filter: { name: "t" }, first: 1) { ${counts} nodes { name } } }`,
        `{ pets(filter: { ids: [] }) { ${counts} nodes { id } edges { cursor } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`,
        `{ orders(filter: { complete: true, petIds: [6, 7] }) { ${counts} } inventory(filter: { statuses: sold }) { ${counts} } categories { ${counts} } }`,
        `{ categories { nodes { pets(filter: { statuses: [available] }, first: 1) { ${counts} nodes { id orders { ${counts} } } } } } }`,
        `{ pets(last: 1, before: "${known.get('fourth')}") { ${counts} nodes { id } } }`,
      ])
        await net.graphql(query);
    },
  },
];
