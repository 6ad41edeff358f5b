import fc from 'fast-check';
import { execute, type GraphQLSchema, parse, validate } from 'graphql';
import { FieldResolver, Resolver, Root } from 'type-graphql';
import type { Services } from '../../src/app/domains';
import { statement } from '../../src/database/statement';
import { visibilityOf } from '../../src/graphql/caller';
import { buildSchema } from '../../src/graphql/schema';
import { createDatabase } from '../helper/database';
import { runs } from '../helper/full';
import { ADMIN_KEY, type Gateway, startGateway } from '../helper/gateway';
import { asUsers } from '../helper/users';
import { CREATE_BOXES } from '../toys/boxes';
import { CREATE_TABLE, Toy, toyDomains } from '../toys/toys';
import { selections } from './generated-queries';

// Compares responses with graphql-js over the rows in memory. Toys have owners, and their names are masked.

type Stored = { id: number; name: string; broken: boolean; boxId: number | null; owner: string | null };
type Box = { id: number; name: string; favouriteId: number | null };

const masked = ({ name, broken }: Pick<Stored, 'name' | 'broken'>) => (broken ? '***' : name);

@Resolver(() => Toy)
class Mask {
  @FieldResolver()
  name(@Root() toy: Stored) {
    return masked(toy);
  }
}

const withMask = (access?: Services) => {
  const domains = toyDomains(access);
  return { ...domains, resolvers: [...domains.resolvers, new Mask()] };
};

const TOYS: Stored[] = Array.from({ length: 24 }, (_, i) => ({
  id: i + 1,
  name: ['Train', 'Ball "1"', 'Doll\\', 'Émile'][i % 4] as string,
  broken: i % 5 === 0,
  boxId: i % 6 === 0 ? null : (i % 3) + 1,
  owner: [null, 'user:ada', 'user:bob'][i % 3] as string | null,
}));
const BOXES: Box[] = [1, 2, 3, 4].map((id) => ({ id, name: `Box ${id}`, favouriteId: id < 4 ? id + 1 : null }));

let gateway: Gateway;
let schema: GraphQLSchema;
beforeAll(async () => {
  asUsers();
  const { database, drop } = await createDatabase();
  for (const { text } of [CREATE_BOXES, CREATE_TABLE]) await database.serviceSession().query(statement(text), []);
  const rows = (given: object[]) => JSON.stringify(given);
  await database.serviceSession().query(
    statement(`insert into boxes (name, favourite_id)
      select name, "favouriteId" from json_to_recordset($1::json) as x(name text, "favouriteId" bigint)`),
    [rows(BOXES)],
  );
  await database.serviceSession().query(
    statement(`insert into toys (name, broken, box_id, owner)
      select name, broken, "boxId", owner
      from json_to_recordset($1::json) as x(name text, broken boolean, "boxId" bigint, owner text)`),
    [rows(TOYS)],
  );
  const remove = async () => {
    await database.serviceSession().query(statement('drop table toys, boxes'), []);
    await drop();
  };
  gateway = await startGateway(
    { GRAPHQL_MAX_COST: '10000000' },
    Date.now,
    { database, drop: remove },
    withMask as typeof toyDomains,
  );
  schema = buildSchema({ ...withMask({} as Services), subscribe: jest.fn() });
});
afterAll(async () => {
  jest.restoreAllMocks();
  await gateway.close();
});

type Page = { first?: number | null; last?: number | null };

/** The rows that a caller sees, as values for the default resolver of graphql-js. */
function world(sees: (toy: Stored) => boolean) {
  const page = <Row>(rows: Row[], { first, last }: Page) => {
    const nodes = last == null ? rows.slice(0, first ?? 20) : rows.slice(-last);
    const start = last == null ? 0 : rows.length - nodes.length;
    return {
      nodes: () => nodes,
      totalCount: rows.length,
      totalCountRelation: 'EQUAL',
      edges: nodes.map((node) => ({ node })),
      pageInfo: { hasNextPage: last == null && start + nodes.length < rows.length, hasPreviousPage: start > 0 },
    };
  };
  const toyOf = (id: number | null): object | null => {
    const toy = TOYS.find((each) => each.id === id);
    if (!toy || !sees(toy)) return null;
    return { ...toy, name: masked(toy), madeAt: null, box: () => boxOf(toy.boxId) };
  };
  const toysIn = (box?: number) => TOYS.filter((toy) => sees(toy) && (box === undefined || toy.boxId === box));
  const boxOf = (id: number | null): object | null => {
    const box = BOXES.find((each) => each.id === id);
    if (!box) return null;
    return {
      ...box,
      label: `${box.name.toUpperCase()}!`,
      favourite: () => toyOf(box.favouriteId),
      toys: (args: Page) =>
        page(
          toysIn(box.id).map(({ id }) => toyOf(id)),
          args,
        ),
    };
  };
  return {
    toy: ({ id }: { id: bigint }) => toyOf(Number(id)),
    toys: (args: Page) =>
      page(
        toysIn().map(({ id }) => toyOf(id)),
        args,
      ),
    box: ({ id }: { id: bigint }) => boxOf(Number(id)),
    boxes: (args: Page) =>
      page(
        BOXES.map(({ id }) => boxOf(id)),
        args,
      ),
  };
}

const CALLERS = [
  { headers: { 'x-api-key': undefined }, visibility: visibilityOf({ scopes: new Set(['READ']) } as never) },
  {
    headers: { 'x-api-key': ADMIN_KEY },
    visibility: visibilityOf({ keyId: 'a', scopes: new Set(['WRITE']) } as never),
  },
  {
    headers: { 'x-api-key': 'user ada READ' },
    visibility: visibilityOf({ user: 'user:ada', scopes: new Set(['READ']) } as never),
  },
] as const;

test('responses are byte-identical to responses of graphql-js over rows in memory, for all kinds of callers', async () => {
  // All resolvers are removed, so that the default resolver reads the rows in memory.
  const { mapSchema, MapperKind } = await import('@graphql-tools/utils');
  const bare = mapSchema(schema, {
    [MapperKind.OBJECT_FIELD]: (field) => ({ ...field, resolve: undefined }),
  });
  const worlds = CALLERS.map(({ visibility }) =>
    world(({ owner }) =>
      visibility.kind === 'all' ? true : visibility.kind === 'owned' ? owner === visibility.by : owner === null,
    ),
  );
  let same = 0;
  const query = selections(bare, ['toy', 'toys', 'box', 'boxes'], ['cursor', 'startCursor', 'endCursor']);
  const property = fc.asyncProperty(query, fc.nat(CALLERS.length - 1), async (text, index) => {
    // The gateway rejects these arguments.
    fc.pre(!/nonsense|101|-1|first: \d[^)]*last: \d/.test(text));
    fc.pre(validate(bare, parse(text)).length === 0);
    const { headers } = CALLERS[index] as (typeof CALLERS)[number];
    const expected = await execute({ schema: bare, document: parse(text), rootValue: worlds[index] });
    if (expected.errors) throw expected.errors[0];
    const options = { method: 'POST' as const, url: '/graphql', payload: { query: text }, headers };
    const response = await gateway.app.inject({ ...options, remoteAddress: `10.${same >> 8}.${same & 255}.1` });
    expect(response.body.replace(/,"extensions":\{"cost".*$/, '}')).toBe(JSON.stringify(expected));
    same++;
  });
  await fc.assert(property, runs(150, 5000));
  expect(same).toBeGreaterThan(100);
}, 900_000);
