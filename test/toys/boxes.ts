import { Args, Ctx, Field, InputType, Mutation, ObjectType, Query, Resolver } from 'type-graphql';
import { selectOne } from '../../src/database/reading/select';
import type { PageSelection, RowSelection } from '../../src/database/reading/selection';
import { type Column, sortOrders, type Table } from '../../src/database/reading/table';
import { statement } from '../../src/database/statement';
import type { Domain } from '../../src/domain/domain';
import { checkInput, Text } from '../../src/graphql/bounds';
import { readConnection } from '../../src/graphql/connection';
import { connectionOf, PageOf } from '../../src/graphql/connection-types';
import type { Context } from '../../src/graphql/context';
import { Paged, WEIGHTS, Weighs } from '../../src/graphql/cost-directives';
import { Errors, Input, nullable, RateLimited, RequiresScope } from '../../src/graphql/directives';
import { enumOf } from '../../src/graphql/enums';
import { orderByOf, pageArgsOf, pageOf } from '../../src/graphql/page-args';
import { Id, IdOf } from '../../src/graphql/scalars';
import { Selected } from '../../src/graphql/selected';
// Only functions that run later use this import, since the files import each other.
import { TOYS, Toy, ToyConnection, ToyPageArgs } from './toys';

// Boxes contain toys. `Toy.box` and `Box.favourite` are relations, and `Box.toys` is a page of the toys in a box.

export const CREATE_BOXES = statement(
  'create table if not exists boxes (id bigserial primary key, name text collate "C" not null, favourite_id bigint)',
);

export type BoxRow = { id: bigint; name: string; favouriteId: bigint | null; favourite?: object | null };

const COLUMNS: Record<keyof Omit<BoxRow, 'favourite'>, Column> = {
  id: { sql: 'boxes.id', kind: 'id', type: 'bigint', isNullable: false },
  name: { sql: 'boxes.name', kind: 'text', type: 'text', isNullable: false },
  favouriteId: { sql: 'boxes.favourite_id', kind: 'id', type: 'bigint', isNullable: true },
};

export const BOXES: Table<BoxRow> = {
  name: 'boxes',
  type: 'Box',
  idField: 'id',
  columns: COLUMNS,
  computed: { label: { sql: "upper(boxes.name) || '!'", kind: 'text', type: 'text', isNullable: false } },
  relations: { favourite: { field: 'favouriteId', join: 'left', table: () => TOYS as Table<object> } },
  pages: { toys: { field: 'boxId', table: () => TOYS as Table<object> } },
  orders: sortOrders<BoxRow>(COLUMNS, { ID: 'id' }),
  filters: { ids: { kind: 'ids' } },
  idOf: (box) => box.id,
};

const INSERT = statement('insert into boxes (name) values ($1) returning id, name, favourite_id as "favouriteId"');

@ObjectType({ simpleResolvers: true, description: 'A box of toys.' })
export class Box {
  @Field(() => Id, { description: 'Its id.' })
  id!: bigint;

  @Text(1, 255)
  @Field(() => String, { description: 'Its name, {bounds}.' })
  name!: string;

  @Field(() => String, { description: 'Its name in capital letters.' })
  label?: string;

  @Field(() => Toy, nullable('The favourite toy.'))
  favourite?: object | null;

  @PageOf(
    () => ToyConnection,
    () => ToyPageArgs,
    'The toys in this box, one page at a time.',
  )
  toys?: object;
}

@InputType({ description: 'A box to create.' })
export class NewBox {
  @Text(1, 255)
  @Field(() => String, { description: 'Its name, {bounds} after trimming.' })
  name!: string;
}

@InputType({ description: 'Which boxes to list.' })
class BoxFilter {
  @Field(() => [Id], nullable('Boxes with these ids.'))
  ids?: bigint[] | null;
}

const BoxSortField = enumOf('BoxSortField', 'The fields by which boxes can be sorted.', { ID: 'By id.' });
const BoxPageArgs = pageArgsOf(BoxFilter, orderByOf('BoxSort', 'boxes', BoxSortField, 'ID'), 'boxes');
type BoxPageArgs = InstanceType<typeof BoxPageArgs>;
const BoxConnection = connectionOf(Box, 'Box', 'boxes');

@Resolver(() => Box)
class BoxResolver {
  @Weighs(WEIGHTS.statement)
  @RateLimited()
  @RequiresScope('READ')
  @Query(() => Box, nullable('The box with this id; null if there is none.'))
  box(@IdOf('box') id: bigint, @Ctx() { session }: Context, @Selected() selection: RowSelection) {
    return selectOne(session, BOXES, id, selection);
  }

  @RateLimited()
  @RequiresScope('READ')
  @Paged('first', 'last')
  @Errors('BAD_USER_INPUT')
  @Query(() => BoxConnection, { description: 'Boxes, one page at a time.' })
  boxes(@Args(() => BoxPageArgs) args: BoxPageArgs, @Ctx() { session }: Context, @Selected() selection: PageSelection) {
    return readConnection(session, BOXES, pageOf(args), args.filter, selection);
  }

  @Weighs(WEIGHTS.creation)
  @RateLimited()
  @RequiresScope('WRITE')
  @Errors('BAD_USER_INPUT')
  @Mutation(() => Box, nullable('Adds a box.'))
  async createBox(@Input(NewBox, 'The box to create.') input: NewBox, @Ctx() { session }: Context) {
    const [box] = await session.write<BoxRow>(INSERT, [checkInput(NewBox, input).name]);
    return box;
  }
}

export function createBoxes(): Domain {
  return {
    name: 'boxes',
    resolvers: [new BoxResolver()],
    routes: [],
    tags: {},
    errors: {},
    idForms: [],
    tables: [BOXES] as Domain['tables'],
    topics: {},
  };
}
