import fc from 'fast-check';
import { emptyDatabase } from '../helper/database';
import { runs } from '../helper/full';
import { type Gateway, startGateway } from '../helper/gateway';
import { byId, LISTS, type List, queryOf, readPage } from '../helper/lists';
import { refusalOf } from '../helper/refusal';
import { fill, type World, worlds } from '../helper/world';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** A list, its arguments without paging, and the ids it returns, in order. */
interface Case {
  list: List;
  args: { filter: object | null; orderBy: object };
  ids: number[];
}

function casesOf(world: World): fc.Arbitrary<Case[]> {
  return fc.tuple(
    ...LISTS.map((list) =>
      fc
        .tuple(list.rows(world), fc.constantFrom(...Object.keys(list.orders)), fc.constantFrom('ASC', 'DESC'))
        .map(([[filter, rows], field, direction]) => {
          const compare = list.orders[field] ?? byId;
          const sorted = [...rows].sort((a, b) => compare(a, b) || byId(a, b));
          if (direction === 'DESC') sorted.reverse();
          return { list, args: { filter, orderBy: { field, direction } }, ids: sorted.map((row) => row.id) };
        }),
    ),
  );
}

const shops = worlds.chain((world) => fc.tuple(fc.constant(world), casesOf(world)));
const sizes = fc.array(fc.integer({ min: 1, max: 15 }), { minLength: 1, maxLength: 4 });
const RUNS = runs(8, 60);

describe('any connection, in any order, with any filter', () => {
  test('paged forward in any page sizes shows every row once, in order', async () => {
    const walk = async ([world, cases]: [World, Case[]], pages: number[]) => {
      await fill(gateway.database, world);
      for (const { list, args, ids } of cases) {
        const seen: number[] = [];
        let after: string | null = null;
        for (let page = 0; ; page++) {
          const first = pages[page % pages.length];
          const {
            ids: found,
            endCursor,
            hasNextPage,
            hasPreviousPage,
            total,
          } = await readPage(gateway, list, { ...args, first, after });
          seen.push(...found);
          expect(total).toBe(ids.length);
          expect(hasNextPage).toBe(seen.length < ids.length);
          expect(hasPreviousPage).toBe(page > 0);
          after = endCursor;
          if (!hasNextPage) break;
        }
        expect(seen).toEqual(ids);
      }
    };
    await fc.assert(fc.asyncProperty(shops, sizes, walk), RUNS);
  });

  test('paged backward in any page sizes shows every row once, each page in order', async () => {
    const walk = async ([world, cases]: [World, Case[]], pages: number[]) => {
      await fill(gateway.database, world);
      for (const { list, args, ids } of cases) {
        const seen: number[] = [];
        let before: string | null = null;
        for (let page = 0; ; page++) {
          const last = pages[page % pages.length];
          const {
            ids: found,
            startCursor,
            hasNextPage,
            hasPreviousPage,
            total,
          } = await readPage(gateway, list, { ...args, last, before });
          seen.unshift(...found);
          expect(total).toBe(ids.length);
          expect(hasPreviousPage).toBe(seen.length < ids.length);
          expect(hasNextPage).toBe(page > 0);
          before = startCursor;
          if (!hasPreviousPage) break;
        }
        expect(seen).toEqual(ids);
      }
    };
    await fc.assert(fc.asyncProperty(shops, sizes, walk), RUNS);
  });

  test('between two cursors shows the rows between them, from either end', async () => {
    const range = fc.tuple(fc.nat(40), fc.nat(40), fc.integer({ min: 1, max: 12 }));
    const look = async ([world, cases]: [World, Case[]], [from, to, size]: [number, number, number]) => {
      await fill(gateway.database, world);
      for (const { list, args, ids } of cases) {
        const { cursors } = await readPage(gateway, list, { ...args, first: 100 });
        const bounds = { after: cursors[from] ?? null, before: cursors[to] ?? null };
        const start = bounds.after === null ? 0 : from + 1;
        const between = ids.slice(start, bounds.before === null ? undefined : Math.max(to, start));

        // An edge has the same cursor on every page.
        expect(new Set(cursors).size).toBe(ids.length);
        const of = (found: number[]) => found.map((id) => cursors[ids.indexOf(id)]);

        const forward = await readPage(gateway, list, { ...args, ...bounds, first: size });
        expect(forward.ids).toEqual(between.slice(0, size));
        expect(forward.cursors).toEqual(of(forward.ids));
        if (between.length > size) expect(forward.hasNextPage).toBe(true);

        const backward = await readPage(gateway, list, { ...args, ...bounds, last: size });
        expect(backward.ids).toEqual(between.slice(-size));
        expect(backward.cursors).toEqual(of(backward.ids));
        if (between.length > size) expect(backward.hasPreviousPage).toBe(true);

        expect((await readPage(gateway, list, { ...args, ...bounds })).ids).toEqual(between.slice(0, 20));
      }
    };
    await fc.assert(fc.asyncProperty(shops, range, look), runs(4, 20));
  });
});

test('no connection accepts a size below 1 or above 100, or both first and last', async () => {
  const int32 = { min: -2147483648, max: 2147483647 };
  const wrong = fc.integer(int32).filter((size) => size < 1 || size > 100);
  const bad = fc.oneof(
    fc.record({ first: wrong }),
    fc.record({ last: wrong }),
    fc.record({ first: fc.integer({ min: 1, max: 100 }), last: fc.integer({ min: 1, max: 100 }) }),
  );
  await fill(gateway.database, {
    categories: [1, 2, 3].map((id) => ({ id, name: 'a' })),
    pets: [{ id: 1, name: 'a', status: 'sold', categoryId: 1, quantity: null }],
    orders: [],
  });
  const refuse = async (list: List, size: object) => {
    const [last] = Object.keys(size).slice(-1);
    expect(await refusalOf(gateway, queryOf(list), size)).toMatchObject({
      code: 'BAD_USER_INPUT',
      paths: [last],
    });
  };
  await fc.assert(fc.asyncProperty(fc.constantFrom(...LISTS), bad, refuse), runs(30, 120));
});

describe('a page', () => {
  const [PETS] = LISTS as [List];
  beforeEach(async () => {
    await emptyDatabase(gateway.database);
    await gateway.data(`mutation {
      createCategory(input: { name: "Dogs" }) { id }
      ${Array.from({ length: 25 }, (_, i) => `p${i}: createPet(input: { name: "Rex", categoryId: 1 }) { id }`).join(' ')}
    }`);
  });
  const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

  test('has 20 rows by default, and at most 100', async () => {
    expect(await readPage(gateway, PETS, {})).toMatchObject({
      ids: upTo(20),
      total: 25,
      hasNextPage: true,
      hasPreviousPage: false,
    });
    expect(await readPage(gateway, PETS, { first: 100 })).toMatchObject({
      ids: upTo(25),
      hasNextPage: false,
    });
    expect(await readPage(gateway, PETS, { first: null, last: null, after: null, before: null })).toMatchObject({
      ids: upTo(20),
    });
    expect(await refusalOf(gateway, '{ pets(first: 101) { totalCount } }')).toMatchObject({
      code: 'BAD_USER_INPUT',
      paths: ['first'],
    });
  });

  test('of an empty list has no cursors', async () => {
    expect(await readPage(gateway, PETS, { filter: { ids: [] } })).toEqual({
      ids: [],
      cursors: [],
      total: 0,
      hasNextPage: false,
      hasPreviousPage: false,
      startCursor: null,
      endCursor: null,
    });
  });

  test('cannot be requested from both ends', async () => {
    expect(await refusalOf(gateway, '{ pets(first: 1, last: 1) { totalCount } }')).toMatchObject({
      code: 'BAD_USER_INPUT',
      status: 400,
      paths: ['last'],
    });
  });

  test('continues after a row that has been deleted', async () => {
    const { endCursor } = await readPage(gateway, PETS, { first: 10 });
    await gateway.data('mutation { deletePet(id: 10) { id } a: deletePet(id: 11) { id } }');
    expect((await readPage(gateway, PETS, { first: 2, after: endCursor })).ids).toEqual([12, 13]);
    expect((await readPage(gateway, PETS, { last: 2, before: endCursor })).ids).toEqual([8, 9]);
  });

  test('continues where it was when rows are added before it', async () => {
    const byNameDown = { orderBy: { field: 'NAME', direction: 'DESC' } };
    const { endCursor } = await readPage(gateway, PETS, { ...byNameDown, first: 5 });
    await gateway.data('mutation { createPet(input: { name: "Zorro", categoryId: 1 }) { id } }');
    expect((await readPage(gateway, PETS, { ...byNameDown, first: 2, after: endCursor })).ids).toEqual([20, 19]);
  });
});
