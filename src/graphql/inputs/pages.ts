import { ArgsType, Field, InputType, Int } from 'type-graphql';
import type { PageArgs as Page } from '../../domain/connection';
import {
  CategoryOrderField,
  InventoryOrderField,
  OrderDirection,
  OrderOrderField,
  PetOrderField,
} from '../enums';
import { CategoryFilter, InventoryFilter, OrderFilter, PetFilter } from './filters';

type Value<E> = E[keyof E];

@ArgsType()
class PageArgs {
  @Field(() => Int, {
    nullable: true,
    description: 'Take this many from the start, 1 to 100. Without `first` and `last`: 20.',
  })
  first?: number | null;

  @Field(() => String, { nullable: true, description: 'Only what comes after this cursor.' })
  after?: string | null;

  @Field(() => Int, { nullable: true, description: 'Take this many from the end, 1 to 100.' })
  last?: number | null;

  @Field(() => String, { nullable: true, description: 'Only what comes before this cursor.' })
  before?: string | null;
}

@InputType({ description: 'The order of a list of pets.' })
class PetOrderBy {
  @Field(() => PetOrderField, { defaultValue: PetOrderField.ID, description: 'What to order by.' })
  field!: Value<typeof PetOrderField>;

  @Field(() => OrderDirection, { defaultValue: OrderDirection.ASC, description: 'Which end comes first.' })
  direction!: Value<typeof OrderDirection>;
}

@InputType({ description: 'The order of a list of categories.' })
class CategoryOrderBy {
  @Field(() => CategoryOrderField, { defaultValue: CategoryOrderField.ID, description: 'What to order by.' })
  field!: Value<typeof CategoryOrderField>;

  @Field(() => OrderDirection, { defaultValue: OrderDirection.ASC, description: 'Which end comes first.' })
  direction!: Value<typeof OrderDirection>;
}

@InputType({ description: 'The order of a list of orders.' })
class OrderOrderBy {
  @Field(() => OrderOrderField, { defaultValue: OrderOrderField.ID, description: 'What to order by.' })
  field!: Value<typeof OrderOrderField>;

  @Field(() => OrderDirection, { defaultValue: OrderDirection.ASC, description: 'Which end comes first.' })
  direction!: Value<typeof OrderDirection>;
}

@InputType({ description: 'The order of a list of inventory entries.' })
class InventoryOrderBy {
  @Field(() => InventoryOrderField, {
    defaultValue: InventoryOrderField.PET_ID,
    description: 'What to order by.',
  })
  field!: Value<typeof InventoryOrderField>;

  @Field(() => OrderDirection, { defaultValue: OrderDirection.ASC, description: 'Which end comes first.' })
  direction!: Value<typeof OrderDirection>;
}

@ArgsType()
export class PetPageArgs extends PageArgs {
  @Field(() => PetFilter, { nullable: true, description: 'Only those that pass it.' })
  filter?: PetFilter | null;

  @Field(() => PetOrderBy, { nullable: true, description: 'The order of the list; by id unless given.' })
  orderBy?: PetOrderBy | null;
}

@ArgsType()
export class CategoryPageArgs extends PageArgs {
  @Field(() => CategoryFilter, { nullable: true, description: 'Only those that pass it.' })
  filter?: CategoryFilter | null;

  @Field(() => CategoryOrderBy, { nullable: true, description: 'The order of the list; by id unless given.' })
  orderBy?: CategoryOrderBy | null;
}

@ArgsType()
export class OrderPageArgs extends PageArgs {
  @Field(() => OrderFilter, { nullable: true, description: 'Only those that pass it.' })
  filter?: OrderFilter | null;

  @Field(() => OrderOrderBy, { nullable: true, description: 'The order of the list; by id unless given.' })
  orderBy?: OrderOrderBy | null;
}

@ArgsType()
export class InventoryPageArgs extends PageArgs {
  @Field(() => InventoryFilter, { nullable: true, description: 'Only those that pass it.' })
  filter?: InventoryFilter | null;

  @Field(() => InventoryOrderBy, {
    nullable: true,
    description: 'The order of the list; by pet unless given.',
  })
  orderBy?: InventoryOrderBy | null;
}

/** The page that the arguments of a connection field ask for. @param order the one when none is asked for. */
export function pageOf(
  args: PageArgs & { orderBy?: { field: string; direction: string } | null },
  order = 'ID',
): Page {
  const { first, after, last, before, orderBy } = args;
  return {
    first,
    after,
    last,
    before,
    order: orderBy?.field ?? order,
    descending: orderBy?.direction === OrderDirection.DESC,
  };
}
