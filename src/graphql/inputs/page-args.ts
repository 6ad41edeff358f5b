import { ArgsType, Field, InputType, Int } from 'type-graphql';
import { DEFAULT_PAGE, type PageArgs as Page } from '../../domain/connection';
import { PAGE_SIZE } from '../../domain/rules';
import {
  CategoryOrderField,
  InventoryOrderField,
  OrderDirection,
  OrderOrderField,
  PetOrderField,
} from '../contract/enum-types';
import { Rules } from '../contract/json-schema';
import { CategoryFilter, InventoryFilter, OrderFilter, PetFilter } from './filters';

type Value<E> = E[keyof E];

@Rules({ first: PAGE_SIZE, last: PAGE_SIZE })
@ArgsType()
class PageArgs {
  @Field(() => Int, {
    nullable: true,
    description: `Page size from the start of the list, 1 to ${PAGE_SIZE.maximum}. Without \`first\` and \`last\`, ${DEFAULT_PAGE}.`,
  })
  first?: number | null;

  @Field(() => String, { nullable: true, description: 'Only items after this cursor.' })
  after?: string | null;

  @Field(() => Int, {
    nullable: true,
    description: `Page size from the end of the list, 1 to ${PAGE_SIZE.maximum}.`,
  })
  last?: number | null;

  @Field(() => String, { nullable: true, description: 'Only items before this cursor.' })
  before?: string | null;
}

@InputType({ description: 'The sort order of a list of pets.' })
class PetOrderBy {
  @Field(() => PetOrderField, { defaultValue: PetOrderField.ID, description: 'What to sort by.' })
  field!: Value<typeof PetOrderField>;

  @Field(() => OrderDirection, { defaultValue: OrderDirection.ASC, description: 'The sort direction.' })
  direction!: Value<typeof OrderDirection>;
}

@InputType({ description: 'The sort order of a list of categories.' })
class CategoryOrderBy {
  @Field(() => CategoryOrderField, { defaultValue: CategoryOrderField.ID, description: 'What to sort by.' })
  field!: Value<typeof CategoryOrderField>;

  @Field(() => OrderDirection, { defaultValue: OrderDirection.ASC, description: 'The sort direction.' })
  direction!: Value<typeof OrderDirection>;
}

@InputType({ description: 'The sort order of a list of orders.' })
class OrderOrderBy {
  @Field(() => OrderOrderField, { defaultValue: OrderOrderField.ID, description: 'What to sort by.' })
  field!: Value<typeof OrderOrderField>;

  @Field(() => OrderDirection, { defaultValue: OrderDirection.ASC, description: 'The sort direction.' })
  direction!: Value<typeof OrderDirection>;
}

@InputType({ description: 'The sort order of a list of inventory entries.' })
class InventoryOrderBy {
  @Field(() => InventoryOrderField, {
    defaultValue: InventoryOrderField.PET_ID,
    description: 'What to sort by.',
  })
  field!: Value<typeof InventoryOrderField>;

  @Field(() => OrderDirection, { defaultValue: OrderDirection.ASC, description: 'The sort direction.' })
  direction!: Value<typeof OrderDirection>;
}

@ArgsType()
export class PetPageArgs extends PageArgs {
  @Field(() => PetFilter, { nullable: true, description: 'Filter; omit to list all.' })
  filter?: PetFilter | null;

  @Field(() => PetOrderBy, { nullable: true, description: 'The sort order; by id by default.' })
  orderBy?: PetOrderBy | null;
}

@ArgsType()
export class CategoryPageArgs extends PageArgs {
  @Field(() => CategoryFilter, { nullable: true, description: 'Filter; omit to list all.' })
  filter?: CategoryFilter | null;

  @Field(() => CategoryOrderBy, { nullable: true, description: 'The sort order; by id by default.' })
  orderBy?: CategoryOrderBy | null;
}

@ArgsType()
export class OrderPageArgs extends PageArgs {
  @Field(() => OrderFilter, { nullable: true, description: 'Filter; omit to list all.' })
  filter?: OrderFilter | null;

  @Field(() => OrderOrderBy, { nullable: true, description: 'The sort order; by id by default.' })
  orderBy?: OrderOrderBy | null;
}

@ArgsType()
export class InventoryPageArgs extends PageArgs {
  @Field(() => InventoryFilter, { nullable: true, description: 'Filter; omit to list all.' })
  filter?: InventoryFilter | null;

  @Field(() => InventoryOrderBy, {
    nullable: true,
    description: 'The sort order; by pet id by default.',
  })
  orderBy?: InventoryOrderBy | null;
}

/** The page that the arguments of a connection field request. @param order the default sort order. */
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
