import pg from 'pg';

const { countRows, countRowsByParent } = await import('../../dist/database/reading/count.js');
const tables = await import('../../dist/petstore/model.js');
const { selectPage, selectPages } = await import('../../dist/database/reading/select.js');
const { ALL_ROWS, UNOWNED_ROWS } = await import('../../dist/database/visibility.js');
const { Deadline } = await import('../../dist/database/deadline.js');

const CATEGORIES = 50;
/** A category with one pet. */
const RARE = BigInt(CATEGORIES + 1);
/** A quarter of the orders belong to this end user, and another quarter to 250 users, in equal parts. */
const BUSY_USER = 'user-0';
const QUIET_USER = 'user-1';
const DEADLINE_MS = 10_000;

/**
 * Fills a store. Every filter has common and rare values. One category has a single pet. One in 500 pets has the rarest
 * status, and one in 1,000 is out of stock. First words of names occur in 90, 9, 1 or 0.1 % of the pets, or in a single pet.
 * Last words occur in 8 or 1 % of the pets. Half of the orders belong
 * to end users.
 */
export async function fillStore(url, pets) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const sql of [
    'set synchronous_commit to off',
    `insert into categories (name) select 'Category ' || i from generate_series(1, ${RARE}) as i`,
    `insert into pets (name, status, category_id) select
       case when i % 1000 = 7 then 'Zanzibar ' when i % 97 = 3 then 'Bella ' when i % 11 = 3 then 'Luna ' else 'Pet ' end || i
         || case when i % 13 = 5 then ' Domino' when i % 89 = 7 then ' Tiger' else '' end,
       (case when i % 500 = 9 then 'pending' when i % 3 = 1 then 'sold' else 'available' end)::pet_status, 1 + i % ${CATEGORIES}
     from generate_series(1, ${pets} - 1) as i`,
    `insert into pets (name, category_id) values ('Unicorn', ${RARE})`,
    `insert into inventory (pet_id, quantity) select id, case when id % 1000 = 0 then 0 else 1 + id % 1000 end from pets`,
    `insert into orders (pet_id, quantity, ship_date, complete, owner)
     select 1 + i * 2 % ${pets}, 1 + i % 5, timestamptz '2026-01-01T00:00:00Z' + i * interval '1 minute', i % 500 <> 1,
       case i / 3 % 4 when 1 then '${BUSY_USER}' when 3 then 'user-' || i % 250 end
     from generate_series(1, ${pets / 2}) as i`,
    'vacuum analyze',
  ]) {
    await client.query(sql);
  }
  await client.end();
}

const PARENTS = Array.from({ length: 20 }, (_, i) => BigInt(i + 32));
const WORDS = {
  'a word of 90 %': { name: 'pet' },
  'a word of 9 %': { name: 'luna' },
  'a word of 1 %': { name: 'bella' },
  'a word of 0.1 %': { name: 'ZANZI' },
  'a word of one': { name: 'unicorn' },
  'a word in no name': { name: 'xyzzy' },
  'a last word of 8 %': { name: 'domino' },
  'a last word of 1 %': { name: 'tiger' },
};
const PETS = {
  all: {},
  'a status': { statuses: ['sold'] },
  'a rare status': { statuses: ['pending'] },
  'two statuses': { statuses: ['sold', 'pending'] },
  'a category': { categoryIds: [7n] },
  'a category of one': { categoryIds: [RARE] },
  'three categories': { categoryIds: [1n, 2n, RARE] },
  'category and status': { categoryIds: [3n, RARE], statuses: ['pending'] },
  'three ids': { ids: [1n, 5000n, 77n] },
  ...WORDS,
  'one letter, common': { name: 'p' },
  'one letter, rare': { name: 'z' },
  'two letters': { name: 'zA' },
  'two letters in no name': { name: 'qq' },
  'three characters in no name': { name: '!!!' },
  'a word and a status': { name: 'luna', statuses: ['sold'] },
  'a last word and a status': { name: 'domino', statuses: ['sold'] },
  'a word and two statuses': { name: 'luna', statuses: ['sold', 'available'] },
  'a word and three categories': { name: 'luna', categoryIds: [1n, 2n, RARE] },
  'a word and a category of one': { name: 'luna', categoryIds: [RARE] },
  'two letters and two statuses': { name: 'be', statuses: ['sold', 'available'] },
};
const INVENTORY = {
  all: {},
  'a status': { statuses: ['sold'] },
  'a rare status': { statuses: ['pending'] },
  'low stock': { maxQuantity: 0 },
  'most stock': { maxQuantity: 900 },
  'high stock': { minQuantity: 990 },
  'stock between': { minQuantity: 100, maxQuantity: 101 },
  'a status, low stock': { statuses: ['sold'], maxQuantity: 0 },
  'a rare status, most stock': { statuses: ['pending'], maxQuantity: 900 },
  'three pets': { petIds: [5n, 77n, 100n] },
};
const ORDERS = {
  all: {},
  complete: { complete: true },
  'not complete': { complete: false },
  'a pet': { petIds: [101n] },
  'pets, not complete': { petIds: [3n, 103n], complete: false },
  'three ids': { ids: [1n, 2n, 3n] },
};
/**
 * The measured reads: the total of every list with each filter, and its pages in each sort order. Pages begin at the start
 * of the list, in the middle of the table, or ten rows before the end, or are read backward from the end.
 *
 * Nested lists may have few rows in the small store, so a time limit derived only from reading them there could be too low.
 * The limit is therefore at least `--limit` times the duration of `times` reads of the list named `like` in the small store.
 * Searches have a fixed limit instead.
 */
export function listsOf() {
  return [
    ...lists('pets', tables.PETS, PETS),
    ...lists('categories', tables.CATEGORIES, { all: {}, 'a word': { name: 'gory 1' } }),
    ...lists('inventory', tables.INVENTORY, INVENTORY),
    ...lists('orders', tables.ORDERS, ORDERS),
    ...lists('orders without an owner', tables.ORDERS, ORDERS, UNOWNED_ROWS),
    ...lists('orders of a user with many', tables.ORDERS, ORDERS, { kind: 'owned', by: BUSY_USER }),
    ...lists('orders of a user with few', tables.ORDERS, ORDERS, { kind: 'owned', by: QUIET_USER }),
    ...Object.entries(PETS).flatMap(([what, filters]) => [
      {
        name: `20 categories × 10 pets: ${what}`,
        isSearch: filters.name !== undefined,
        like: `pets: ${what}, by id, start`,
        times: PARENTS.length,
        read: (database) =>
          selectPages(database.serviceSession(), tables.PETS, 'categoryId', PARENTS, pageOf(filters, 'ID', 10)),
      },
      {
        name: `20 categories, totals: ${what}`,
        isSearch: filters.name !== undefined,
        like: `pets: ${what}, total`,
        times: PARENTS.length,
        counts: async (database) => [
          ...(await countRowsByParent(database.serviceSession(), tables.PETS, 'categoryId', PARENTS, filters)).values(),
        ],
      },
    ]),
  ];
}

/** The lists of one table. @param visibility the rows that the caller sees. */
function lists(name, table, filters, visibility = ALL_ROWS) {
  const sessionOf = (database) =>
    database.sessionFor({ callerId: 'growth', deadline: new Deadline(DEADLINE_MS), visibility });
  return Object.entries(filters).flatMap(([what, filter]) => [
    ...Object.keys(table.orders).flatMap((order) =>
      ['start', 'middle', 'last page', 'end'].map((place) => {
        const after = once((database) => boundOf(sessionOf(database), table, filter, order, place));
        return {
          name: `${name}: ${what}, by ${order.toLowerCase()}, ${place}`,
          isSearch: filter.name !== undefined,
          read: async (database) =>
            selectPage(sessionOf(database), table, {
              ...pageOf(filter, order, 20),
              backward: place === 'end',
              after: await after(database),
            }),
        };
      }),
    ),
    {
      name: `${name}: ${what}, total`,
      isSearch: filter.name !== undefined,
      counts: async (database) => [await countRows(sessionOf(database), table, filter)],
    },
  ]);
}

function pageOf(filters, order, limit) {
  return { filters, order, descending: false, backward: false, limit };
}

/** The row after which a page begins: in the middle of the table, or ten rows before the end of the list. */
async function boundOf(session, table, filters, order, place) {
  if (place !== 'middle' && place !== 'last page') return undefined;
  const { expression, field, keyOf } = table.orders[order];
  if (place === 'last page') {
    const page = { ...pageOf(filters, order, 10), backward: true };
    const { rows } = await selectPage(session, table, page);
    return rows[0] && { key: keyOf(rows[0]), id: String(table.idOf(rows[0])) };
  }
  const id = table.columns[table.idField].sql;
  const text = `select ${expression}::text as key, ${id}::text as id from ${table.name}
    order by ${field === table.idField ? id : `${expression}, ${id}`} offset (select count(*) / 2 from ${table.name}) limit 1`;
  const [row] = await session.query({ name: '', text }, []);
  return row;
}

/** Caches the result of `find` for each database. */
function once(find) {
  const known = new Map();
  return (database) => {
    if (!known.has(database)) known.set(database, find(database));
    return known.get(database);
  };
}
