import { Arg, Args, Ctx, Field, InputType, Mutation, ObjectType, Query, Resolver, Root } from 'type-graphql';
import { createAccess } from '../../src/access/access';
import type { Services } from '../../src/app/domains';
import { selectOne } from '../../src/database/reading/select';
import type { PageSelection, RowSelection } from '../../src/database/reading/selection';
import { type Column, sortOrders, type Table } from '../../src/database/reading/table';
import { RecordedWrite } from '../../src/database/recorded-write';
import { lockRow, rowLock } from '../../src/database/row-locks';
import { statement } from '../../src/database/statement';
import { combineDomains, type Domain, type Domains } from '../../src/domain/domain';
import { ExpectedError, notFound } from '../../src/errors/errors';
import { requireUnchanged } from '../../src/errors/precondition';
import type { ChangeEvent } from '../../src/events/hub';
import { createFeed } from '../../src/feed/feed';
import { checkInput, NotNull, SearchText, Text } from '../../src/graphql/bounds';
import { ChangeKind, Changes, isIn } from '../../src/graphql/changes';
import { readConnection } from '../../src/graphql/connection';
import { connectionOf } from '../../src/graphql/connection-types';
import type { Context } from '../../src/graphql/context';
import { Paged, WEIGHTS, Weighs } from '../../src/graphql/cost-directives';
import { Errors, Input, nullable, RateLimited, RequiresScope } from '../../src/graphql/directives';
import { enumOf } from '../../src/graphql/enums';
import { orderByOf, pageArgsOf, pageOf } from '../../src/graphql/page-args';
import { DateTime, Id, IdOf } from '../../src/graphql/scalars';
import { Selected } from '../../src/graphql/selected';
import type { RestRoute } from '../../src/rest/rest-route';
import { BOXES, Box, type BoxRow, createBoxes } from './boxes';

// A minimal domain: a table, a type, a filter, a rule, an error code, REST operations and an event. Tests use it for
// modules that do not depend on a particular domain. A toy can be in a box (`boxes.ts`), for tests of relations, and belong to a user.

export const CREATE_TABLE = statement(`create table if not exists toys (
  id bigserial primary key, name text collate "C" not null, broken boolean not null default false, made_at timestamptz(3),
  box_id bigint references boxes, owner text collate "C")`);

type StoredToy = {
  id: bigint;
  name: string;
  broken: boolean;
  madeAt: Date | null;
  boxId: bigint | null;
  owner: string | null;
};
/** A toy as read from the database. `box` is present only if the same statement has read the box. */
type ToyRow = StoredToy & { box?: BoxRow | null };

const column = (name: string, kind: Column['kind'], type: string, isNullable = false): Column => ({
  sql: `toys.${name}`,
  kind,
  type,
  isNullable,
});
const COLUMNS = {
  id: column('id', 'id', 'bigint'),
  name: column('name', 'text', 'text'),
  broken: column('broken', 'boolean', 'boolean'),
  madeAt: column('made_at', 'timestamp', 'timestamptz', true),
  boxId: column('box_id', 'id', 'bigint', true),
  owner: column('owner', 'text', 'text', true),
};

export const TOYS: Table<ToyRow> = {
  name: 'toys',
  type: 'Toy',
  idField: 'id',
  owner: { column: 'owner' },
  columns: COLUMNS,
  relations: { box: { field: 'boxId', join: 'left', table: () => BOXES as Table<object> } },
  orders: sortOrders<ToyRow>(COLUMNS, { ID: 'id', NAME: 'name' }),
  filters: {
    ids: { kind: 'ids' },
    boxIds: { kind: 'equal', column: COLUMNS.boxId },
    name: { kind: 'name', column: COLUMNS.name },
  },
  idOf: (toy) => toy.id,
};

const LOCK = rowLock<StoredToy>(TOYS, 'no key update');
const RETURNED = 'returning id, name, broken, made_at as "madeAt", box_id as "boxId", owner';
const INSERT = new RecordedWrite<ToyRow>({
  insert: 'insert into toys (name, box_id) values ($1, $2)',
  returning: { id: 'id', name: 'name', broken: 'broken', madeAt: 'made_at', boxId: 'box_id', owner: 'owner' },
  parameters: 2,
  events: [{ topic: 'toy', kind: 'CREATED', from: 'written', objectId: 'id', owner: 'owner' }],
});
const UPDATE = statement(
  `update toys set name = coalesce($2, name), broken = coalesce($3, broken) where id = $1 ${RETURNED}`,
);

@ObjectType({ simpleResolvers: true, description: 'A toy.' })
export class Toy {
  @Field(() => Id, { description: 'Its id.' })
  id!: bigint;

  @Text(1, 255)
  @Field(() => String, { description: 'Its name, {bounds}.' })
  name!: string;

  @Field(() => Boolean, { description: 'Whether it is broken.' })
  broken!: boolean;

  @Field(() => DateTime, nullable('When it was made.'))
  madeAt!: Date | null;

  @Field(() => Id, nullable('The id of the box that it is in.'))
  boxId!: bigint | null;

  @Field(() => Box, nullable('The box that it is in.'))
  box?: object | null;

  @Text(1, 255)
  @Field(() => String, nullable('The user whose toy it is, {bounds}; null if it belongs to everybody.'))
  owner!: string | null;
}

@InputType({ description: 'A toy to create.' })
export class NewToy {
  @Text(1, 255)
  @Field(() => String, { description: 'Its name, {bounds} after trimming.' })
  name!: string;
}

@InputType({ description: 'Changes to a toy.' })
export class ToyUpdate {
  @NotNull()
  @Text(1, 255)
  @Field(() => String, nullable('Its new name.'))
  name?: string;

  @NotNull()
  @Field(() => Boolean, nullable('Whether it is broken.'))
  broken?: boolean;
}

@InputType({ description: 'Which toys to list.' })
class ToyFilter {
  @Field(() => [Id], nullable('Toys with these ids.'))
  ids?: bigint[] | null;

  @SearchText()
  @Weighs(WEIGHTS.search)
  @Field(() => String, nullable('Toys whose name contains this.'))
  name?: string | null;
}

const ToySortField = enumOf('ToySortField', 'The fields by which toys can be sorted.', {
  ID: 'By id.',
  NAME: 'By name.',
});
export const ToyPageArgs = pageArgsOf(ToyFilter, orderByOf('ToySort', 'toys', ToySortField, 'ID'), 'toys');
export type ToyPageArgs = InstanceType<typeof ToyPageArgs>;
export const ToyConnection = connectionOf(Toy, 'Toy', 'toys');

@InputType({ description: 'Which changes to receive.' })
class ToyChangeFilter {
  @Field(() => [Id], nullable('Toys with these ids.'))
  ids?: bigint[] | null;
}

@ObjectType({ simpleResolvers: true, description: 'A change to a toy.' })
class ToyChange {
  @Field(() => ChangeKind, { description: 'What happened to it.' })
  kind!: ChangeKind;

  @Field(() => Toy, { description: 'The toy.' })
  toy!: Toy;
}

const ERRORS = {
  TOY_BROKEN: { status: 409, why: 'The toy is broken.', fix: 'Mend it.', message: 'Toy 1 is broken.' },
};

@Resolver(() => Toy)
class ToyResolver {
  @Weighs(WEIGHTS.statement)
  @RateLimited()
  @RequiresScope('READ')
  @Query(() => Toy, nullable('The toy with this id; null if there is none.'))
  toy(@IdOf('toy') id: bigint, @Ctx() { session }: Context, @Selected() selection: RowSelection) {
    return selectOne(session, TOYS, id, selection);
  }

  @RateLimited()
  @RequiresScope('READ')
  @Paged('first', 'last')
  @Errors('BAD_USER_INPUT')
  @Query(() => ToyConnection, { description: 'Toys, one page at a time.' })
  toys(@Args(() => ToyPageArgs) args: ToyPageArgs, @Ctx() { session }: Context, @Selected() selection: PageSelection) {
    return readConnection(session, TOYS, pageOf(args), args.filter, selection);
  }

  @Weighs(WEIGHTS.creation)
  @RateLimited()
  @RequiresScope('WRITE')
  @Errors('BAD_USER_INPUT')
  @Mutation(() => Toy, nullable('Adds a toy.'))
  async createToy(
    @Input(NewToy, 'The toy to create.') input: NewToy,
    @Arg('boxId', () => Id, nullable('The box to put it in.')) boxId: bigint | null,
    @Ctx() { session }: Context,
  ) {
    const { name } = checkInput(NewToy, input);
    return INSERT.run(session, [name, boxId ?? null]);
  }

  @Weighs(WEIGHTS.change)
  @RateLimited()
  @RequiresScope('WRITE')
  @Errors('BAD_USER_INPUT', 'NOT_FOUND', 'TOY_BROKEN')
  @Mutation(() => Toy, nullable('Changes a toy. If the toy is broken, only `broken` can be changed.'))
  updateToy(
    @IdOf('toy') id: bigint,
    @Input(ToyUpdate) input: ToyUpdate,
    @Ctx() { session, operationRequest }: Context,
  ) {
    const { name, broken } = checkInput(ToyUpdate, input);
    return session.transaction(async (tx) => {
      const before = await lockRow(tx, LOCK, id);
      if (!before) throw notFound('Toy', id);
      await requireUnchanged(tx, operationRequest.precondition, `Toy ${id}`, () => before);
      if (before.broken && name !== undefined)
        throw new ExpectedError('TOY_BROKEN', ERRORS.TOY_BROKEN.status, `Toy ${id} is broken.`);
      const [toy] = await tx.write<ToyRow>(UPDATE, [id, name ?? null, broken ?? null]);
      tx.publishOnCommit({ topic: 'toy', kind: 'UPDATED', id, owner: before.owner, before });
      return toy;
    });
  }

  @RateLimited()
  @RequiresScope('READ')
  @Changes('toy', () => ToyChange, {
    description: 'Reports changes to toys.',
    filterOf:
      ({ ids }: ToyChangeFilter) =>
      ({ id }: ChangeEvent<ToyRow>) =>
        isIn(ids, id),
  })
  toyChanged(
    @Root() { kind, row }: ChangeEvent<ToyRow>,
    @Arg('filter', () => ToyChangeFilter, nullable('Which changes.')) _filter?: ToyChangeFilter,
  ): ToyChange {
    return { kind, toy: row };
  }
}

const TOY = 'fragment toy on Toy { id name broken madeAt }';
const ROUTES: readonly RestRoute[] = [
  {
    on: 'GET /toys',
    ok: 200,
    summary: 'List toys',
    document: `query listToys($limit: Int = 20, $cursor: String, $sort: ToySort, $name: String) {
      toys(first: $limit, after: $cursor, orderBy: $sort, filter: { name: $name }) {
        nodes { ...toy } pageInfo { hasNextPage endCursor } } } ${TOY}`,
  },
  {
    on: 'POST /toys',
    ok: 201,
    summary: 'Create a toy',
    document: `mutation createToy($input: NewToy!) { createToy(input: $input) { ...toy } } ${TOY}`,
  },
  {
    on: 'GET /toys/{toyId}',
    ok: 200,
    summary: 'Get a toy',
    document: `query getToy($toyId: ID!) { toy(id: $toyId) { ...toy } } ${TOY}`,
  },
  {
    on: 'PATCH /toys/{toyId}',
    ok: 200,
    summary: 'Change a toy',
    document: `mutation updateToy($toyId: ID!, $input: ToyUpdate!) { updateToy(id: $toyId, input: $input) { ...toy } } ${TOY}`,
  },
  {
    on: 'GET /boxes/{boxId}/toys',
    ok: 200,
    summary: 'List the toys in a box',
    document: `query listToysInBox($boxId: ID!, $limit: Int = 20, $cursor: String) {
      box(id: $boxId) { toys(first: $limit, after: $cursor) { nodes { ...toy } pageInfo { hasNextPage endCursor } } } } ${TOY}`,
    payload: 'box.toys',
    missing: 'Box {boxId} does not exist.',
  },
  {
    on: 'POST /boxes/{boxId}/toys',
    ok: 201,
    summary: 'Create a toy in a box',
    document: `mutation createToyInBox($boxId: ID!, $input: NewToy!) { createToy(input: $input, boxId: $boxId) { ...toy } } ${TOY}`,
    location: '/toys/{id}',
  },
];

export function createToys(): Domain {
  return {
    name: 'toys',
    resolvers: [new ToyResolver()],
    routes: ROUTES,
    tags: { toys: { name: 'Toys', description: 'Toys.' }, boxes: { name: 'Boxes', description: 'Boxes of toys.' } },
    errors: ERRORS,
    idForms: [],
    tables: [TOYS] as Domain['tables'],
    topics: { toy: TOYS } as Domain['topics'],
    descriptions: { title: 'Toys', schema: 'Toys.', rest: 'Toys.' },
  };
}

/** The domains of a gateway that has toys in boxes instead of the petstore. */
export function toyDomains(services = {} as Services): Domains {
  const domains = [createToys(), createAccess(services), createBoxes()];
  return combineDomains([...domains, createFeed(domains, services)]);
}
