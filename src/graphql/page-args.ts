import { ArgsType, type ClassType, Field, InputType, Int } from 'type-graphql';
import { Cursor, PageSize } from './bounds';
import { DEFAULT_PAGE, type PageArgs as Page } from './connection';
import { WEIGHTS, Weighs } from './cost-directives';
import { nullable } from './directives';
import { SortDirection } from './enums';

@ArgsType()
export class PageArgs {
  @PageSize()
  @Field(
    () => Int,
    nullable(
      `The number of items to return from the start of the list, {bounds}. The default is ${DEFAULT_PAGE}, except with \`last\`.`,
    ),
  )
  first?: number | null;

  @Cursor()
  @Field(() => String, nullable('Only items after this cursor.'))
  after?: string | null;

  @PageSize()
  @Field(() => Int, nullable('The number of items to return from the end of the list, {bounds}.'))
  last?: number | null;

  @Cursor()
  @Field(() => String, nullable('Only items before this cursor.'))
  before?: string | null;
}

/** Creates the input type for the sort order of a list. @param fallback the default sort field. */
export function orderByOf<Name extends string>(
  name: string,
  plural: string,
  fields: { readonly [field in Name]: field },
  fallback: Name,
) {
  @InputType(name, { description: `The sort order of a list of ${plural}.` })
  class OrderBy {
    @Field(() => fields, { defaultValue: fallback, description: `The field to sort the ${plural} by.` })
    field!: Name;

    @Field(() => SortDirection, { defaultValue: SortDirection.ASC, description: 'In which direction to sort.' })
    direction!: keyof typeof SortDirection;
  }
  return OrderBy;
}

/**
 * Creates the class of a list's arguments.
 * @param plural the plural of the listed type: `pets`.
 * @param order the default sort order in words: `by id`.
 */
export function pageArgsOf<Filter extends object, OrderBy extends object>(
  FilterType: ClassType<Filter>,
  OrderByType: ClassType<OrderBy>,
  plural: string,
  order = 'by id',
) {
  @ArgsType()
  class ListArgs extends PageArgs {
    @Weighs(WEIGHTS.filter)
    @Field(() => FilterType, nullable(`Which ${plural} to list; all by default.`))
    filter?: Filter | null;

    @Field(() => OrderByType, nullable(`How the ${plural} are sorted; ${order} by default.`))
    orderBy?: OrderBy | null;
  }
  return ListArgs;
}

/** The arguments of a connection field. */
export interface ListArgs extends PageArgs {
  filter?: object | null;
  orderBy?: { field: string; direction: string } | null;
}

/** Converts the arguments of a connection field to the requested page. @param order the default sort order. */
export function pageOf(args: ListArgs, order = 'ID'): Page {
  const { first, after, last, before, orderBy } = args;
  return {
    first,
    after,
    last,
    before,
    order: orderBy?.field ?? order,
    descending: orderBy?.direction === SortDirection.DESC,
  };
}
