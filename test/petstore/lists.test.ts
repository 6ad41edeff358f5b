import fc from 'fast-check';
import { encodeCursor, tagOf } from '../../src/database/reading/cursor';
import { statement } from '../../src/database/statement';
import { runs } from '../helper/full';
import { type Gateway, startGateway } from '../helper/gateway';
import { refusalOf } from '../helper/refusal';
import { fill, STATUSES, type World, worlds } from '../helper/world';
import { send } from '../rest/client';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** A row of any list. */
interface Row {
  readonly id: number;
  readonly name?: string;
  readonly status?: string;
  readonly categoryId?: number;
  readonly petId?: number | null;
  readonly shipDate?: string | null;
  readonly complete?: boolean;
  readonly quantity?: number | null;
}

interface Filter {
  /** The query parameter in REST. */
  readonly parameter: string;
  readonly values: fc.Arbitrary<unknown>;
  /** @returns whether a row passes this value of the filter. */
  passing(value: never): (row: Row) => boolean;
}

/** A list of the API: how GraphQL and REST read it, and how to compute its rows in memory. */
interface List {
  readonly field: string;
  /** The prefix of the names of its filter and sort types: `Pet` for `PetFilter` and `PetSort`. */
  readonly type: string;
  readonly key: 'id' | 'petId';
  /** The REST path; absent if REST does not have the list. */
  readonly path?: string;
  /** Nested lists only: the field of the parent list, and a function that returns the id of a row's parent. */
  readonly parents?: { readonly field: string; of(row: Row): unknown };
  rows(world: World): readonly Row[];
  /** The sort fields, with the id first. Each has its name in REST, and a function that returns the sort value of a row. */
  readonly sorts: Readonly<Record<string, readonly [parameter: string, value: (row: Row) => string | number]>>;
  readonly filters: Readonly<Record<string, Filter>>;
}

const idUpTo = (max: number) => {
  const number = fc.integer({ min: 1, max });
  const far = fc.constant('9223372036854775807');
  return fc.oneof({ weight: 9, arbitrary: number }, { weight: 5, arbitrary: number.map(String) }, far);
};
/** A list of values, or a single value, which GraphQL coerces to a list of one item. */
const some = (value: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 7, arbitrary: fc.array(value, { maxLength: 6 }) }, value);
const among = (parameter: string, field: keyof Row, value: fc.Arbitrary<unknown>): Filter => ({
  parameter,
  values: some(value),
  passing(values: unknown) {
    const wanted = new Set([values].flat().map(String));
    return (row) => wanted.has(String(row[field]));
  },
});

const TEXTS = [
  ...',R,re,rex,REX,É,ém,émi,ÉMILE,a,aA,b,AARON,zoe ,x 9,🐕,～, b,%,e,,a b,_,0%,00%,a_b,kkkk,back'.split(','),
  ...['k\\s', "o'b", 'b &=#', '&=#', 'strasse', 'STRAẞE'],
];
const QUANTITIES = [-1, 0, 1, 2, 3, 2147483647];
const named: Filter = {
  parameter: 'name',
  values: fc.constantFrom(...TEXTS),
  /** Whether the name contains the text. A text of fewer than three characters must be the start of the name. */
  passing(value: string) {
    const wanted = value.toLowerCase();
    const isShort = [...value].length < 3;
    return ({ name = '' }) => {
      const own = name.toLowerCase();
      return isShort ? own.startsWith(wanted) : own.includes(wanted);
    };
  },
};
const byIds = among('id', 'id', idUpTo(45));
const byStatuses = among('status', 'status', fc.constantFrom(...STATUSES));
const sortById = { ID: ['id', ({ id }: Row) => id] } as const;
const sortByName = { NAME: ['name', ({ name = '' }: Row) => name] } as const;

const pets = {
  field: 'pets',
  type: 'Pet',
  key: 'id',
  rows: (world: World) => world.pets,
  sorts: { ...sortById, ...sortByName },
  filters: {
    ids: byIds,
    statuses: byStatuses,
    categoryIds: among('categoryId', 'categoryId', idUpTo(4)),
    name: named,
  },
} as const;
const orders = {
  field: 'orders',
  type: 'Order',
  key: 'id',
  rows: (world: World) => world.orders,
  sorts: {
    ...sortById,
    SHIP_DATE: ['shipDate', ({ shipDate }: Row) => (shipDate ? Date.parse(shipDate) : Number.MAX_VALUE)],
  },
  filters: {
    ids: byIds,
    petIds: among('petId', 'petId', idUpTo(3)),
    complete: {
      parameter: 'complete',
      values: fc.boolean(),
      passing: (value: boolean) => (row: Row) => row.complete === value,
    },
  },
} as const;

/** Every list of the shop, with each of its filters and sort orders. */
const LISTS: readonly List[] = [
  { ...pets, path: '/pets' },
  { ...pets, parents: { field: 'categories', of: ({ categoryId }) => categoryId } },
  { ...orders, path: '/store/orders' },
  { ...orders, parents: { field: 'pets', of: ({ petId }) => petId } },
  {
    field: 'categories',
    type: 'Category',
    key: 'id',
    path: '/categories',
    rows: (world) => world.categories,
    sorts: { ...sortById, ...sortByName },
    filters: { ids: byIds, name: named },
  },
  {
    field: 'inventory',
    type: 'Inventory',
    key: 'petId',
    path: '/store/inventory',
    rows: (world) => world.pets.filter((pet) => pet.quantity !== null),
    sorts: { PET_ID: ['petId', ({ id }) => id], QUANTITY: ['quantity', ({ quantity }) => quantity ?? 0] },
    filters: {
      petIds: among('petId', 'id', idUpTo(45)),
      statuses: byStatuses,
      maxQuantity: {
        parameter: 'maxQuantity',
        values: fc.constantFrom(...QUANTITIES),
        passing:
          (value: number) =>
          ({ quantity }) =>
            (quantity ?? 0) <= value,
      },
      minQuantity: {
        parameter: 'minQuantity',
        values: fc.constantFrom(...QUANTITIES),
        passing:
          (value: number) =>
          ({ quantity }) =>
            (quantity ?? 0) >= value,
      },
    },
  },
];
const [PETS, PETS_OF_CATEGORIES] = LISTS as [List, List];
const INVENTORY = LISTS.at(-1) as List;

/**
 * A shop in which some pages are hard to find. Sorted by name, the few names with 'émi' come last. Many names contain
 * 'rex', but no name begins with 'rex'. The names with 'rex' are all between 'Aaron' and 'zoe'. The inventory has too many
 * rows to sort all of them.
 */
const LARGE: World = {
  categories: Array.from({ length: 3000 }, (_, i) => ({ id: i + 1, name: nameOf(i) })),
  pets: Array.from({ length: 4000 }, (_, i) => ({
    id: i + 1,
    name: nameOf(i % 3000),
    status: i % 100 === 7 ? 'pending' : i > 1500 ? 'sold' : 'available',
    categoryId: i % 500 === 3 ? 3 : 1 + (i % 2),
    quantity: i % 7 === 0 ? null : i < 2900 ? 2 + (i % 5) : i % 3,
  })),
  orders: Array.from({ length: 3000 }, (_, i) => ({
    id: i + 1,
    petId: i % 11 === 0 ? null : 1 + (i % 4),
    shipDate: i % 3 === 0 ? null : new Date(Date.UTC(2026, 0, 1, 0, i % 900)).toISOString(),
    complete: i % 250 === 9,
  })),
};

function nameOf(i: number): string {
  if (i > 2990) return i % 2 ? `Émile ${i}` : 'Straße';
  if (i > 2980) return ['100%', 'a_b', 'ab', 'back\\slash', "O'Brien"][i % 5] ?? '';
  if (i % 150 === 5) return `a b &=# ${i}`;
  if (i % 20 === 14) return `${i % 40 === 14 ? 'kkkK' : 'pet KkkK'} ${i}`;
  return i % 3 === 0 ? `M. Rex ${i}` : `${i % 2 ? 'Aaron' : 'zoe'} ${i}`;
}

interface InputType {
  readonly name: string;
  readonly inputFields: { name: string; type: Enum & { ofType?: Enum } }[];
}
interface Enum {
  readonly enumValues?: { name: string }[];
}

interface Page {
  readonly totalCount: number;
  readonly totalCountRelation: string;
  readonly pageInfo: {
    hasNextPage: boolean;
    hasPreviousPage: boolean;
    startCursor: string | null;
    endCursor: string | null;
  };
  readonly nodes: readonly { id: string }[];
  readonly edges: readonly { cursor: string; node: { id: string } }[];
}

/** The ids of the parent rows whose nested lists are read. */
const PARENTS = [1, 2, 3, 4];

/** A query for a page of the list, with all of its arguments as variables. */
function queryOf({ field, type, key, parents }: List): string {
  const types = {
    first: 'Int',
    after: 'String',
    last: 'Int',
    before: 'String',
    filter: `${type}Filter`,
    orderBy: `${type}Sort`,
  };
  const declared = Object.entries(types).map(([name, type]) => `$${name}: ${type}`);
  const given = Object.keys(types).map((name) => `${name}: $${name}`);
  const page = `list: ${field}(${given.join(', ')}) {
    totalCount totalCountRelation pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    nodes { id: ${key} } edges { cursor node { id: ${key} } }
  }`;
  const body = parents
    ? `parents: ${parents.field}(filter: { ids: [${PARENTS}] }) { nodes { id ${page} } }`
    : `parent: __typename ${page}`;
  return `query (${declared.join(', ')}) { ${body} }`;
}

/** Reads a page of the list. For a nested list, reads a page for each of {@link PARENTS}. */
async function read(list: List, args: object): Promise<{ parent: number; page: Page }[]> {
  const data = await gateway.data<{ list: Page; parents: { nodes: { id: string; list: Page }[] } }>(
    queryOf(list),
    args,
  );
  if (!list.parents) return [{ parent: 0, page: data.list }];
  return data.parents.nodes.map(({ id, list }) => ({ parent: Number(id), page: list }));
}

/** Reads a page of the top-level list, which has the rows of all parents. */
async function readWhole(list: List, args: object): Promise<Page & { ids: number[] }> {
  const [{ page } = { page: undefined }] = await read({ ...list, parents: undefined }, args);
  if (!page) throw new Error('no page');
  return { ...page, ids: idsOf(page.nodes) };
}

const idsOf = (nodes: readonly { id: string }[]) => nodes.map(({ id }) => Number(id));

/** The rows of a list, in ascending order of a field. Text is in the order of its UTF-8 bytes. */
function sorted(rows: readonly Row[], keyOf: (row: Row) => string | number): Row[] {
  const keyed = rows.map((row) => {
    const value = keyOf(row);
    return { row, key: typeof value === 'number' ? value : Buffer.from(value) };
  });
  const compare = (a: number | Buffer, b: number | Buffer) =>
    typeof a === 'number' || typeof b === 'number' ? Number(a) - Number(b) : Buffer.compare(a, b);
  return keyed.sort((a, b) => compare(a.key, b.key) || a.row.id - b.row.id).map(({ row }) => row);
}

/** A generated request for a page. */
interface Asked {
  readonly orderBy: { readonly field?: string; readonly direction?: string } | null;
  readonly isBackward: boolean;
  readonly size: number;
  /** Whether the cursors are taken only from rows that match the filter, not from all rows. */
  readonly isWithin: boolean;
  /** The positions of the cursors `after` and `before` among these rows, as fractions: 0.5 is the middle row. */
  readonly from: number | null;
  readonly to: number | null;
}

async function look(world: World, list: List, filter: Record<string, unknown>, asked: Asked): Promise<void> {
  const { orderBy, isBackward, size } = asked;
  const [parameter, value] = list.sorts[orderBy?.field ?? ''] ?? Object.values(list.sorts)[0] ?? ['', () => 0];
  const all = sorted(list.rows(world), value);
  const isDescending = orderBy?.direction === 'DESC';
  if (isDescending) all.reverse();
  const cursorOf = async (row: Row | undefined) => {
    if (!row) return null;
    const only = { [`${list.key}s`]: [row.id] };
    return (await readWhole(list, { orderBy, filter: only })).pageInfo.endCursor;
  };
  const conditions = Object.entries(filter).flatMap(([name, wanted]) =>
    wanted === null ? [] : [list.filters[name]?.passing(wanted as never)],
  );
  const passes = (row: Row) => conditions.every((condition) => condition?.(row));
  const beside = asked.isWithin ? all.filter(passes) : all;
  const at = (part: number | null) => (part === null ? undefined : beside[Math.floor(part * beside.length)]);
  const [from, to] = [at(asked.from), at(asked.to)];
  const bounds = { after: await cursorOf(from), before: await cursorOf(to) };
  const between = all.slice(from && all.indexOf(from) + 1, to && all.indexOf(to));

  const args = { filter, orderBy, ...bounds, ...(isBackward ? { last: size } : { first: size }) };
  const pages = await read(list, args);
  if (list.parents) {
    const existing = list.parents.field === 'pets' ? world.pets : world.categories;
    expect(pages.map(({ parent }) => parent)).toEqual(PARENTS.filter((id) => id <= existing.length));
  }
  for (const { parent, page } of pages) {
    const isShown = (row: Row) => passes(row) && (!list.parents || list.parents.of(row) === parent);
    const matching = between.filter(isShown);
    const expected = isBackward ? matching.slice(-size) : matching.slice(0, size);
    const ids = expected.map(({ id }) => id);
    const isMore = matching.length > size;
    expect(idsOf(page.nodes)).toEqual(ids);
    expect(page.edges.map(({ node }) => node)).toEqual(page.nodes);
    expect(page).toMatchObject({
      totalCount: all.filter(isShown).length,
      totalCountRelation: 'EQUAL',
      pageInfo: {
        hasNextPage: isBackward ? !!to : isMore,
        hasPreviousPage: isBackward ? isMore : !!from,
        startCursor: page.edges[0]?.cursor ?? null,
        endCursor: await cursorOf(expected.at(-1)),
      },
    });
    expect(page.edges.at(-1)?.cursor ?? null).toBe(page.pageInfo.endCursor);

    // REST supports neither empty lists of filter values, nor pages before a cursor.
    const isEmpty = (wanted: unknown) => Array.isArray(wanted) && !wanted.length;
    if (!list.path || isBackward || bounds.before || Object.values(filter).some(isEmpty)) continue;
    const query = new URLSearchParams();
    for (const [name, wanted] of Object.entries(filter))
      for (const each of [wanted ?? []].flat()) query.append(list.filters[name]?.parameter ?? '', String(each));
    if (orderBy) query.set('sort', `${isDescending ? '-' : ''}${parameter}`);
    query.set('limit', String(size));
    const next = new URLSearchParams(query);
    if (bounds.after) query.set('cursor', bounds.after);
    const { status, json, headers } = await send(gateway, `GET ${list.path}?${query}`);
    expect(status).toBe(200);
    expect((json as Record<string, number>[]).map((row) => row[list.key])).toEqual(ids);
    next.set('cursor', page.pageInfo.endCursor ?? '');
    const link = /^<([^?]*)\?([^>]*)>; rel="next"$/.exec(headers.link ?? '');
    expect(link && [link[1], [...new URLSearchParams(link[2])]]).toEqual(isMore ? [list.path, [...next]] : null);
  }
}

test('every list of the schema is tested, with each of its filters and sort orders', async () => {
  const { __schema } = await gateway.data<{ __schema: { types: InputType[] } }>(`{ __schema { types {
    name inputFields { name type { enumValues { name } ofType { enumValues { name } } } }
  } } }`);
  const inputs = __schema.types.filter(({ name }) => /^(?!.*Change).*(Filter|Sort)$/.test(name));
  expect(inputs.map(({ name }) => name).sort()).toEqual(
    [...new Set(LISTS.flatMap(({ type }) => [`${type}Filter`, `${type}Sort`]))].sort(),
  );
  for (const { name, inputFields } of inputs) {
    const list = LISTS.find(({ type }) => name === `${type}Filter` || name === `${type}Sort`);
    const field = inputFields.find(({ name }) => name === 'field')?.type;
    const found = (field?.enumValues ?? field?.ofType?.enumValues ?? inputFields).map(({ name }) => name);
    expect(found.sort()).toEqual(Object.keys((field ? list?.sorts : list?.filters) ?? {}).sort());
  }
});

const part = fc.option(fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }));

/** Tests random pages of every list in the shop of the enclosing `describe`. */
function testPages(world: World): void {
  test.each(LISTS.map((list): [string, List] => [`${list.field} of ${list.parents?.field ?? 'all'}`, list]))(
    'pages of %s have the same rows as pages computed in memory, for any filters, sort order and cursors',
    async (_name, list) => {
      const filter = fc.record(
        Object.fromEntries(
          Object.entries(list.filters).map(([name, { values }]) => [name, fc.option(values, { freq: 1 })]),
        ),
        { requiredKeys: [] },
      );
      const sort = { field: fc.constantFrom(...Object.keys(list.sorts)), direction: fc.constantFrom('ASC', 'DESC') };
      const asked = fc.record({
        orderBy: fc.option(fc.record(sort, { requiredKeys: [] })),
        isBackward: fc.boolean(),
        size: fc.integer({ min: 1, max: 12 }),
        isWithin: fc.boolean(),
        from: part,
        to: part,
      });
      const property = fc.asyncProperty(filter, asked, (filter, asked) => look(world, list, filter, asked));
      await fc.assert(property, runs(8, 80));
    },
  );
}

describe.each(fc.sample(worlds, { numRuns: 2, seed: 7 }))('in a small shop (%#)', (world) => {
  beforeAll(() => fill(gateway.database, world));
  testPages(world);
});

describe('in a large shop', () => {
  beforeAll(() => fill(gateway.database, LARGE));
  testPages(LARGE);

  test.each<[string, List, string, readonly unknown[]]>([
    ['names', PETS, 'name', TEXTS],
    ['names of pets in a category', PETS_OF_CATEGORIES, 'name', ['rex', 'ém', '%', 'a_b', 'kkkk']],
    ['quantities', INVENTORY, 'maxQuantity', QUANTITIES],
    ['quantities', INVENTORY, 'minQuantity', QUANTITIES],
  ])('%s are filtered like the rows in memory, for each value of the filter', async (_what, list, name, values) => {
    const asked = { orderBy: null, isBackward: false, size: 12, isWithin: false, from: null, to: null };
    for (const value of values) await look(LARGE, list, { [name]: value }, asked);
  });

  test.each([PETS, PETS_OF_CATEGORIES])(
    'a name filter can be combined with a filter for 98 categories: list %#',
    async (list) => {
      const categoryIds = Array.from({ length: 98 }, (_, i) => i + 2);
      const filter = { name: 'kkkk', categoryIds, statuses: ['available', 'sold'] };
      for (const direction of ['ASC', 'DESC'])
        for (const from of [null, 0.4, 0.8]) {
          const asked = {
            orderBy: { field: 'NAME', direction },
            isBackward: false,
            size: 40,
            isWithin: true,
            from,
            to: null,
          };
          await look(LARGE, list, filter, asked);
        }
    },
  );

  test.each([true, false])(
    'pages of stock are in the right order even if there are too many rows to sort (backward: %s)',
    async (isBackward) => {
      for (const direction of ['ASC', 'DESC'])
        for (const from of [null, 0.4, 0.999]) {
          const orderBy = { field: 'QUANTITY', direction };
          const asked = { orderBy, isBackward, size: 12, isWithin: true, from, to: null };
          await look(LARGE, INVENTORY, { statuses: ['available', 'sold'] }, asked);
        }
    },
  );

  test('a page has 20 rows by default, and at most 100', async () => {
    const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);
    for (const args of [{}, { first: null, last: null, after: null, before: null, filter: null, orderBy: null }])
      expect((await readWhole(PETS, args)).ids).toEqual(upTo(20));
    expect((await readWhole(PETS, { first: 100 })).ids).toEqual(upTo(100));
    expect((await send(gateway, 'GET /pets')).json).toHaveLength(20);
    expect((await send(gateway, 'GET /pets?limit=100')).json).toHaveLength(100);
  });

  test('the lists of a filter have at most 100 values together, including repeated values, in GraphQL and REST', async () => {
    const ids = (length: number) => Array.from({ length }, (_, i) => i + 1);
    const query = 'query ($filter: PetFilter) { pets(filter: $filter, first: 1) { nodes { id } } }';
    const pathsOf = async (filter: object) => (await refusalOf(gateway, query, { filter })).paths;
    expect(await pathsOf({ ids: ids(101) })).toEqual(['filter.ids']);
    expect(await pathsOf({ ids: new Array(101).fill(1) })).toEqual(['filter.ids']);
    expect((await pathsOf({ ids: ids(60), categoryIds: ids(40), statuses: ['sold'] })).sort()).toEqual([
      ...['filter.categoryIds', 'filter.ids', 'filter.statuses'],
    ]);
    const nested = `{ categories(first: 1) { nodes { pets(filter: { ids: [${ids(101)}] }) { nodes { id } } } } }`;
    expect((await refusalOf(gateway, nested)).paths).toEqual(['filter.ids']);
    await gateway.data(query, { filter: { ids: ids(60), categoryIds: ids(38), statuses: ['sold', 'sold'] } });

    const repeat = (name: string, values: readonly unknown[]) => values.map((value) => `${name}=${value}`).join('&');
    for (const [path, ...names] of [
      ['/pets', 'id'],
      ['/pets', 'categoryId', 'id'],
      ['/categories', 'id'],
      ['/store/orders', 'petId'],
      ['/store/orders', 'id', 'petId'],
      ['/store/inventory', 'petId'],
    ] as const) {
      const values = ids(Math.ceil(101 / names.length));
      const { status, json } = await send(
        gateway,
        `GET ${path}?${names.map((name) => repeat(name, values)).join('&')}`,
      );
      const message = expect.stringMatching(/^must have at most 100 items/);
      const details = expect.arrayContaining(
        names.map((path) => ({ path, message, rule: 'TOO_LONG', params: { max: 100 } })),
      );
      expect([path, status, json]).toEqual([path, 400, expect.objectContaining({ code: 'BAD_USER_INPUT', details })]);
    }
    const first = await send(gateway, `GET /pets?limit=1&sort=-name&${repeat('id', ids(100))}`);
    const [, next = ''] = /<(.*)>; rel="next"/.exec(String(first.headers.link)) ?? [];
    expect([first.status, (await send(gateway, `GET ${next}`)).status]).toEqual([200, 200]);
  });

  test('a request with both first and last is rejected', async () => {
    expect(await refusalOf(gateway, queryOf(PETS), { first: 1, last: 1 })).toMatchObject({
      code: 'BAD_USER_INPUT',
      status: 400,
      paths: ['last'],
    });
  });

  test('the next page continues at the same position, even if rows were deleted or added in between', async () => {
    const orderBy = { field: 'NAME', direction: 'DESC' };
    const { ids, edges } = await readWhole(PETS, { orderBy, first: 100 });
    const [at = 0, next = 0] = ids.slice(50);
    const cursor = edges[50]?.cursor;
    await gateway.database.serviceSession().query(statement('delete from orders'), []);
    await gateway.data(`mutation {
      a: deletePet(id: ${at}) { id } b: deletePet(id: ${next}) { id }
      createPet(input: { name: "zzz", categoryId: 1 }) { id }
    }`);
    expect((await readWhole(PETS, { orderBy, first: 2, after: cursor })).ids).toEqual(ids.slice(52, 54));
    expect((await readWhole(PETS, { orderBy, last: 2, before: cursor })).ids).toEqual(ids.slice(48, 50));
    const rest = await send(gateway, `GET /pets?sort=-name&limit=2&cursor=${cursor}`);
    expect(rest.json).toMatchObject(ids.slice(52, 54).map((id) => ({ id })));
  });
});

test('totalCount stops at 10,000, and totalCountRelation says whether there are more rows', async () => {
  await fill(gateway.database, { categories: [], pets: [], orders: [] });
  const insert = (count: number) =>
    gateway.database
      .serviceSession()
      .query(statement('insert into orders (complete) select false from generate_series(1, $1::int)'), [count]);
  const total = async (filter: object) => {
    const { list } = await gateway.data(
      'query ($filter: OrderFilter) { list: orders(filter: $filter) { totalCount totalCountRelation } }',
      { filter },
    );
    return [list?.totalCount, list?.totalCountRelation];
  };
  await insert(10_000);
  expect(await total({})).toEqual([10_000, 'EQUAL']);
  await insert(1);
  expect(await total({})).toEqual([10_000, 'AT_LEAST']);
  expect(await total({ complete: false })).toEqual([10_000, 'AT_LEAST']);
  expect(await total({ complete: true })).toEqual([0, 'EQUAL']);
});

/** The number of bytes at the start of a cursor that identify its list and sort order. */
const TAG = 8;

describe('a cursor', () => {
  const NAME = { orderBy: { field: 'NAME' } };
  let cursor: string;
  beforeAll(async () => {
    await fill(gateway.database, {
      categories: [{ id: 1, name: 'Dogs' }],
      pets: [
        { id: 1, name: 'Réx 🐕', status: 'sold', categoryId: 1, quantity: 1 },
        { id: 2, name: 'Sam', status: 'sold', categoryId: 1, quantity: 1 },
      ],
      orders: [],
    });
    cursor = (await readWhole(PETS, { ...NAME, first: 1 })).pageInfo.endCursor ?? '';
  });

  const expectRefused = async (list: List, orderBy: { field: string; direction?: string }, wrong: string) => {
    for (const side of ['after', 'before']) {
      expect(await refusalOf(gateway, queryOf(list), { orderBy, [side]: wrong })).toMatchObject({
        http: 200,
        code: 'BAD_USER_INPUT',
        status: 400,
        paths: [side],
      });
    }
    // A URL cannot contain a lone surrogate.
    if (!list.path || !wrong.isWellFormed()) return;
    const sort = `${orderBy.direction === 'DESC' ? '-' : ''}${list.sorts[orderBy.field]?.[0]}`;
    const rest = await send(gateway, `GET ${list.path}?sort=${sort}&cursor=${encodeURIComponent(wrong)}`);
    expect(rest).toMatchObject({ status: 400, json: { code: 'BAD_USER_INPUT', details: [{ path: 'cursor' }] } });
  };

  test('is rejected if its tag is changed, if it is truncated before the key, or if characters are added', async () => {
    const bytes = Buffer.from(cursor, 'base64url');
    for (let at = 0; at < TAG; at++) {
      const changed = Buffer.from(bytes);
      changed[at] = (bytes[at] ?? 0) ^ (1 << (at % 8));
      await expectRefused(PETS, NAME.orderBy, changed.toString('base64url'));
    }
    for (let at = 0; at <= TAG; at++)
      await expectRefused(PETS, NAME.orderBy, bytes.subarray(0, at).toString('base64url'));
    for (const added of ['=', ' ', '\0', '\ud800']) {
      await expectRefused(PETS, NAME.orderBy, cursor + added);
      await expectRefused(PETS, NAME.orderBy, added + cursor);
    }
    expect((await readWhole(PETS, { ...NAME, after: cursor })).ids).toEqual([2]);
  });

  test('is rejected by every other list and sort order', async () => {
    for (const list of LISTS)
      for (const field of Object.keys(list.sorts))
        for (const direction of ['ASC', 'DESC'])
          if (list.type !== 'Pet' || field !== 'NAME' || direction !== 'ASC')
            await expectRefused(list, { field, direction }, cursor);
  });

  test('is rejected if it is not a cursor at all', async () => {
    const wrong = fc.oneof(fc.string({ unit: 'binary' }), fc.base64String());
    await fc.assert(
      fc.asyncProperty(wrong, (text) => expectRefused(PETS, NAME.orderBy, text)),
      runs(8, 50),
    );
  });

  // The tag is not secret, so a client can forge a cursor whose key the database cannot parse.
  test.each<[string, string, string, string, string]>([
    ['a non-numeric id', 'pets', 'ID', 'x', ''],
    ['an id beyond int64', 'pets', 'ID', '9223372036854775808', ''],
    ['a negative id', 'pets', 'ID', '-1', '-1'],
    ['an id that is SQL', 'pets', 'ID', "1')--", ''],
    ['a name with NUL', 'pets', 'NAME', '1', 'a\0'],
    ['an invalid date', 'orders', 'SHIP_DATE', '1', 'yesterday'],
    ['a date that does not exist', 'orders', 'SHIP_DATE', '1', '2026-02-30T00:00:00.000Z'],
    ['a date in the year 0', 'orders', 'SHIP_DATE', '1', '0000-01-01T00:00:00.000Z'],
    ['a date after the year 9999', 'orders', 'SHIP_DATE', '1', '+010000-01-01T00:00:00.000Z'],
    ['a quantity beyond int32', 'inventory', 'QUANTITY', '1', '2147483648'],
    ['a non-numeric quantity', 'inventory', 'QUANTITY', '1', 'NaN'],
  ])('is rejected when forged with %s', async (_what, name, field, id, key) => {
    const list = LISTS.find(({ field }) => field === name) as List;
    for (const direction of ['ASC', 'DESC']) {
      const order = `${name} ${field}${direction === 'DESC' ? ' desc' : ''}`;
      await expectRefused(list, { field, direction }, encodeCursor(tagOf(order), { id, key }));
    }
  });
});
