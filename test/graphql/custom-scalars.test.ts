import { GraphQLScalarType } from 'graphql';
import { Args, Ctx, Field, InputType, ObjectType, Query, Resolver, Root } from 'type-graphql';
import { createAccess } from '../../src/access/access';
import type { Services } from '../../src/app/domains';
import { selectByIds, selectOne } from '../../src/database/reading/select';
import type { PageSelection, RowSelection } from '../../src/database/reading/selection';
import { type Column, sortOrders, type Table } from '../../src/database/reading/table';
import { combineDomains, type Domain } from '../../src/domain/domain';
import { createFeed } from '../../src/feed/feed';
import { Changes } from '../../src/graphql/changes';
import { readConnection } from '../../src/graphql/connection';
import { connectionOf } from '../../src/graphql/connection-types';
import type { Context } from '../../src/graphql/context';
import { Paged, WEIGHTS, Weighs } from '../../src/graphql/cost-directives';
import { Errors, nullable, RateLimited, RequiresScope } from '../../src/graphql/directives';
import { enumOf } from '../../src/graphql/enums';
import { orderByOf, pageArgsOf, pageOf } from '../../src/graphql/page-args';
import { Id, IdOf } from '../../src/graphql/scalars';
import { Selected } from '../../src/graphql/selected';
import { createDatabase } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';
import { running, socketClient } from '../helper/live';
import { until } from '../helper/until';
import { BOXES, CREATE_BOXES } from '../toys/boxes';
import { fillToys } from '../toys/gateway';
import { CREATE_TABLE, TOYS, toyDomains } from '../toys/toys';

// A badge is a toy whose name only a scalar of the domain can write: it keeps the first letter.

const Initial = new GraphQLScalarType({
  name: 'Initial',
  description: 'The first letter of a text.',
  serialize: (value) => `${String(value).charAt(0)}…`,
});

const { id, name } = TOYS.columns as Record<'id' | 'name', Column>;
type BadgeRow = { id: bigint; name: string };

const BADGES: Table<BadgeRow> = {
  name: 'toys',
  type: 'Badge',
  idField: 'id',
  columns: { id, name },
  relations: {},
  orders: sortOrders<BadgeRow>({ id }, { ID: 'id' }),
  filters: { ids: { kind: 'ids' } },
  idOf: (badge) => badge.id,
};
/** A case is a box. */
const CASES = {
  ...BOXES,
  type: 'Case',
  computed: {},
  pages: {},
  relations: { favourite: { field: 'favouriteId', join: 'left', table: () => BADGES } },
} as Table<object>;

@ObjectType({ simpleResolvers: true, description: 'A badge.' })
class Badge {
  @Field(() => Id, { description: 'Its id.' })
  id!: bigint;

  @Field(() => Initial, { description: 'Its initial.' })
  name!: string;
}

@ObjectType({ simpleResolvers: true, description: 'A case.' })
class Case {
  @Field(() => Id, { description: 'Its id.' })
  id!: bigint;

  @Field(() => Badge, nullable('The favourite badge.'))
  favourite?: object | null;
}

@ObjectType({ simpleResolvers: true, description: 'A change to a badge.' })
class BadgeChange {
  @Field(() => Badge, { description: 'The badge.' })
  badge!: object;
}

@InputType({ description: 'Which badges to list.' })
class BadgeFilter {
  @Field(() => [Id], nullable('Badges with these ids.'))
  ids?: bigint[] | null;
}

const BadgeSortField = enumOf('BadgeSortField', 'The fields by which badges can be sorted.', { ID: 'By id.' });
const BadgePageArgs = pageArgsOf(BadgeFilter, orderByOf('BadgeSort', 'badges', BadgeSortField, 'ID'), 'badges');
type BadgePageArgs = InstanceType<typeof BadgePageArgs>;
const BadgeConnection = connectionOf(Badge, 'Badge', 'badges');

@Resolver(() => Badge)
class BadgeResolver {
  @Weighs(WEIGHTS.statement)
  @RateLimited()
  @RequiresScope('READ')
  @Query(() => Case, nullable('A case.'))
  case(@IdOf('case') caseId: bigint, @Ctx() { session }: Context, @Selected() selection: RowSelection) {
    return selectOne(session, CASES, caseId, selection);
  }

  @RateLimited()
  @RequiresScope('READ')
  @Paged('first', 'last')
  @Errors('BAD_USER_INPUT')
  @Query(() => BadgeConnection, { description: 'Badges.' })
  badges(
    @Args(() => BadgePageArgs) args: BadgePageArgs,
    @Ctx() { session }: Context,
    @Selected() selection: PageSelection,
  ) {
    return readConnection(session, BADGES, pageOf(args), args.filter, selection);
  }

  @RateLimited()
  @RequiresScope('READ')
  @Changes('badge', () => BadgeChange, { description: 'Changes to badges.', filterOf: () => () => true })
  badgeChanged(@Root() { row }: { row: object }): BadgeChange {
    return { badge: row };
  }
}

const domainsOf =
  (routes: Domain['routes'] = []) =>
  (access = {} as Services) => {
    const badges: Domain = {
      name: 'badges',
      resolvers: [new BadgeResolver()],
      routes,
      tags: { badges: { name: 'Badges', description: 'Badges.' } },
      errors: {},
      idForms: [],
      tables: [BADGES, CASES] as Domain['tables'],
      topics: { badge: BADGES } as Domain['topics'],
      descriptions: { title: 'Badges', schema: 'Badges.', rest: 'Badges.' },
    };
    const domains = [badges, createAccess(access)];
    return combineDomains([...domains, createFeed(domains, access)]);
  };

let gateway: Gateway;
beforeAll(async () => {
  const { database, drop } = await createDatabase();
  for (const table of [CREATE_BOXES, CREATE_TABLE]) await database.serviceSession().query(table, []);
  await fillToys(database);
  await database.serviceSession().query({ name: '', text: 'update boxes set favourite_id = 3 where id = 1' }, []);
  const remove = async () => {
    await database.serviceSession().query({ name: '', text: 'drop table toys, boxes' }, []);
    await drop();
  };
  gateway = await startGateway({}, Date.now, { database, drop: remove }, domainsOf() as typeof toyDomains);
});
afterAll(() => gateway.close());

test('the scalar of a domain writes a text column in lists and relations', async () => {
  expect(await gateway.data('{ badges { nodes { name } } case(id: 1) { favourite { name } } }')).toEqual({
    badges: { nodes: [{ name: 'T…' }, { name: 'B…' }, { name: 'D…' }] },
    case: { favourite: { name: 'D…' } },
  });
});

test('the scalar of a domain writes a text column in events', async () => {
  const client = socketClient(await gateway.listen());
  const received = client.subscribe('subscription { badgeChanged { badge { id name } } }');
  await until(async () => (await running(gateway)) === 1);
  await gateway.database
    .serviceSession()
    .transaction(async (tx) => tx.publishOnCommit({ topic: 'badge', kind: 'UPDATED', id: 2n }));
  expect(await received.until(1)).toEqual([{ data: { badgeChanged: { badge: { id: '2', name: 'B…' } } } }]);
  client.close();
});

test('two types over one table have their own columns', async () => {
  const fieldsOf = async (table: Table<never>) =>
    Object.keys(
      (await selectByIds(gateway.database.serviceSession(), table as Table<object>, [1n])).get(1n) ?? {},
    ).sort();
  expect(await fieldsOf(BADGES)).toEqual(['id', 'name']);
  expect(await fieldsOf(TOYS)).toEqual(Object.keys(TOYS.columns).sort());
});

test('a start with a REST operation that returns a scalar without a format in REST fails with an error that names it', async () => {
  const route = {
    on: 'GET /badges',
    ok: 200,
    summary: 'List badges',
    document:
      'query listBadges($limit: Int = 20) { badges(first: $limit) { nodes { id name } pageInfo { endCursor hasNextPage } } }',
  } as const;
  const { database, drop } = await createDatabase();
  const started = startGateway({}, Date.now, { database, drop }, domainsOf([route]) as typeof toyDomains);
  await expect(started).rejects.toThrow('REST has no format for the type Initial');
  await drop();
});
