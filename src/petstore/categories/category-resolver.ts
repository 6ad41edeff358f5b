import { Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import type { FieldSelection, PageSelection, RowSelection } from '../../database/reading/selection';
import type { Context } from '../../graphql/context';
import { Paged, WEIGHTS, Weighs } from '../../graphql/cost-directives';
import { Errors, Input, nullable, RateLimited, RequiresScope } from '../../graphql/directives';
import { pageOf } from '../../graphql/page-args';
import { IdOf } from '../../graphql/scalars';
import { Selected } from '../../graphql/selected';
import { CategoryPageArgs, CategoryUpdate, NewCategory } from '../inputs';
import { conditionOf, IfVersion } from '../row-metadata';
import { Category, CategoryConnection } from '../types';
import type { CategoryService } from './category-service';

@Resolver(() => Category)
export class CategoryResolver {
  constructor(private readonly categories: CategoryService) {}

  @Weighs(WEIGHTS.statement)
  @RateLimited()
  @RequiresScope('READ')
  @Query(() => Category, nullable('The category with this id; null if there is none.'))
  category(@IdOf('category') id: bigint, @Ctx() { session }: Context, @Selected() selection: RowSelection) {
    return this.categories.get(session, id, selection);
  }

  @RateLimited()
  @RequiresScope('READ')
  @Paged('first', 'last')
  @Errors('BAD_USER_INPUT')
  @Query(() => CategoryConnection, { name: 'categories', description: 'Categories, one page at a time.' })
  list(
    @Args(() => CategoryPageArgs) args: CategoryPageArgs,
    @Ctx() { session }: Context,
    @Selected() selection: PageSelection,
  ) {
    return this.categories.list(session, args.filter, pageOf(args), selection);
  }

  @Weighs(WEIGHTS.creation)
  @RateLimited()
  @RequiresScope('WRITE')
  @Errors('BAD_USER_INPUT')
  @Mutation(() => Category, nullable('Adds a category.'))
  createCategory(
    @Input(NewCategory, 'The category to create.') input: NewCategory,
    @Ctx() { session }: Context,
    @Selected() selection: FieldSelection,
  ) {
    return this.categories.create(session, input, selection);
  }

  @Weighs(WEIGHTS.change)
  @RateLimited()
  @RequiresScope('WRITE')
  @Errors('BAD_USER_INPUT', 'NOT_FOUND', 'PRECONDITION_FAILED')
  @Mutation(() => Category, nullable('Updates the given fields of a category; other fields keep their values.'))
  updateCategory(
    @IdOf('category') id: bigint,
    @Input(CategoryUpdate) input: CategoryUpdate,
    @IfVersion() ifVersion: string | null | undefined,
    @Ctx() { session, operationRequest }: Context,
    @Selected() selection: FieldSelection,
  ) {
    return this.categories.update(session, id, input, conditionOf(operationRequest, ifVersion), selection);
  }

  @Weighs(WEIGHTS.change)
  @RateLimited()
  @RequiresScope('WRITE')
  @Errors('NOT_FOUND', 'PRECONDITION_FAILED', 'CATEGORY_NOT_EMPTY')
  @Mutation(() => Category, nullable('Deletes a category that has no pets. Returns the deleted category.'))
  deleteCategory(
    @IdOf('category') id: bigint,
    @IfVersion() ifVersion: string | null | undefined,
    @Ctx() { session, operationRequest }: Context,
  ) {
    return this.categories.delete(session, id, conditionOf(operationRequest, ifVersion));
  }
}
