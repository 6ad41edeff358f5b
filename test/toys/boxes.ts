import { Args, Ctx, Field, InputType, Mutation, ObjectType, Query, Resolver } from 'type-graphql';
import { selectOne } from '../../src/database/reading/select';
import type { PageSelection, RowSelection } from '../../src/database/reading/selection';
import { type Column, sortOrders, type Table } from '../../src/database/reading/table';
import { statement } from '../../src/database/statement';
import { checkInput, Text } from '../../src/graphql/bounds';
import { readConnection } from '../../src/graphql/connection';
import { connectionOf } from '../../src/graphql/connection-types';
import type { Context } from '../../src/graphql/context';
import { Paged } from '../../src/graphql/cost-directives';
import { Errors, Input, nullable, RateLimited, RequiresScope } from '../../src/graphql/directives';
import { enumOf } from '../../src/graphql/enums';
import { orderByOf, pageArgsOf, pageOf } from '../../src/graphql/page-args';
import { Id, IdOf } from '../../src/graphql/scalars';
import { Selected } from '../../src/graphql/selected';
import type { Domain } from '../../src/rest/domain';

// Boxes contain toys. `Toy.box` is a relation, and `Box.toys` is a page of the toys in a box.

export const CREATE_BOXES = statement(
  'create table if not exists boxes (id bigserial primary key, name text collate "C" not null)',
);

export type BoxRow = { id: bigint; name: string };

const COLUMNS: Record<keyof BoxRow, Column> = {
  id: { sql: 'boxes.id', kind: 'id', type: 'bigint', isNullable: false },
  name: { sql: 'boxes.name', kind: 'text', type: 'text', isNullable: false },
};

/** The table of boxes. @param toys the table of the toys in the boxes. */
export const boxesOf = (toys: () => Table<object>): Table<BoxRow> => ({
  name: 'boxes',
  type: 'Box',
  idField: 'id',
  columns: COLUMNS,
  relations: {},
  pages: { toys: { field: 'boxId', table: toys } },
  orders: sortOrders<BoxRow>(COLUMNS, { ID: 'id' }),
  filters: { ids: { kind: 'ids' } },
  idOf: (box) => box.id,
});

const INSERT = statement('insert into boxes (name) values ($1) returning id, name');

@ObjectType({ simpleResolvers: true, description: 'A box of toys.' })
export class Box {
  @Field(() => Id, { description: 'Its id.' })
  id!: bigint;

  @Text(1, 255)
  @Field(() => String, { description: 'Its name, {bounds}.' })
  name!: string;
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

const BoxSortField = enumOf('BoxSortField', 'What boxes can be sorted by.', { ID: 'By id.' });
const BoxPageArgs = pageArgsOf(BoxFilter, orderByOf('BoxSort', 'boxes', BoxSortField, 'ID'), 'boxes');
type BoxPageArgs = InstanceType<typeof BoxPageArgs>;
const BoxConnection = connectionOf(Box, 'Box', 'boxes');

@Resolver(() => Box)
class BoxResolver {
  constructor(private readonly table: Table<BoxRow>) {}

  @RateLimited()
  @RequiresScope('READ')
  @Query(() => Box, nullable('The box with this id; null if there is none.'))
  box(@IdOf('box') id: bigint, @Ctx() { session }: Context, @Selected() selection: RowSelection) {
    return selectOne(session, this.table, id, selection);
  }

  @RateLimited()
  @RequiresScope('READ')
  @Paged('first', 'last')
  @Errors('BAD_USER_INPUT')
  @Query(() => BoxConnection, { description: 'Boxes, one page at a time.' })
  boxes(@Args(() => BoxPageArgs) args: BoxPageArgs, @Ctx() { session }: Context, @Selected() selection: PageSelection) {
    return readConnection(session, this.table, pageOf(args), args.filter, selection);
  }

  @RateLimited()
  @RequiresScope('WRITE')
  @Errors('BAD_USER_INPUT')
  @Mutation(() => Box, nullable('Adds a box.'))
  async createBox(@Input(NewBox, 'The box to create.') input: NewBox, @Ctx() { session }: Context) {
    const [box] = await session.write<BoxRow>(INSERT, [checkInput(NewBox, input).name]);
    return box;
  }
}

/** @param toys resolves the toys in a box. */
export function createBoxes(boxes: Table<BoxRow>, toys: object): Domain {
  return {
    name: 'boxes',
    resolvers: [new BoxResolver(boxes), toys],
    routes: [],
    tags: {},
    errors: {},
    idForms: [],
    tables: [boxes] as Domain['tables'],
    topics: {},
  };
}
