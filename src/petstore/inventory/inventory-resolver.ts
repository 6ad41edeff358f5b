import { Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import type { FieldSelection, PageSelection, RowSelection } from '../../database/reading/selection';
import type { Context } from '../../graphql/context';
import { Paged, WEIGHTS, Weighs } from '../../graphql/cost-directives';
import { Errors, Input, nullable, RateLimited, RequiresScope, Stability } from '../../graphql/directives';
import { pageOf } from '../../graphql/page-args';
import { IdOf } from '../../graphql/scalars';
import { Selected } from '../../graphql/selected';
import { AdjustmentArgs, InventoryPageArgs, InventoryUpdate } from '../inputs';
import { conditionOf, IfVersion } from '../row-metadata';
import { InventoryItem, InventoryItemConnection } from '../types';
import type { InventoryService } from './inventory-service';

@Resolver(() => InventoryItem)
export class InventoryResolver {
  constructor(private readonly stock: InventoryService) {}

  @Weighs(WEIGHTS.statement)
  @RateLimited()
  @RequiresScope('READ')
  @Query(() => InventoryItem, nullable("A pet's stock; null if it is not tracked."))
  inventoryItem(@IdOf('pet', 'petId') petId: bigint, @Ctx() { session }: Context, @Selected() selection: RowSelection) {
    return this.stock.get(session, petId, selection);
  }

  @RateLimited()
  @RequiresScope('READ')
  @Paged('first', 'last')
  @Errors('BAD_USER_INPUT')
  @Query(() => InventoryItemConnection, { description: 'Inventory entries, one page at a time.' })
  inventory(
    @Args(() => InventoryPageArgs) args: InventoryPageArgs,
    @Ctx() { session }: Context,
    @Selected() selection: PageSelection,
  ) {
    return this.stock.list(session, args.filter, pageOf(args, 'PET_ID'), selection);
  }

  @Weighs(WEIGHTS.change)
  @RateLimited()
  @RequiresScope('WRITE')
  @Errors('BAD_USER_INPUT', 'NOT_FOUND', 'PRECONDITION_FAILED')
  @Mutation(() => InventoryItem, nullable("Sets a pet's stock, which is tracked from then on."))
  setInventory(
    @IdOf('pet', 'petId') petId: bigint,
    @Input(InventoryUpdate, 'The new stock.') input: InventoryUpdate,
    @IfVersion() ifVersion: string | null | undefined,
    @Ctx() { session, operationRequest }: Context,
    @Selected() selection: FieldSelection,
  ) {
    return this.stock.set(session, petId, input, conditionOf(operationRequest, ifVersion), selection);
  }

  @Weighs(WEIGHTS.change)
  @RateLimited()
  @RequiresScope('WRITE')
  @Errors('BAD_USER_INPUT', 'NOT_FOUND', 'INSUFFICIENT_STOCK')
  @Mutation(
    () => InventoryItem,
    nullable(
      "Adds units to a pet's tracked stock, or takes units if the number is negative. Concurrent adjustments are all applied.",
    ),
  )
  adjustInventory(
    @IdOf('pet', 'petId') petId: bigint,
    @Args(() => AdjustmentArgs) { by }: AdjustmentArgs,
    @Ctx() { session }: Context,
    @Selected() selection: FieldSelection,
  ) {
    return this.stock.adjust(session, petId, by, selection);
  }

  @Stability('BETA')
  @Weighs(WEIGHTS.change)
  @RateLimited()
  @RequiresScope('WRITE')
  @Errors('NOT_FOUND', 'PRECONDITION_FAILED')
  @Mutation(() => InventoryItem, nullable("Stops tracking a pet's stock. Returns the deleted entry."))
  removeInventory(
    @IdOf('pet', 'petId') petId: bigint,
    @IfVersion() ifVersion: string | null | undefined,
    @Ctx() { session, operationRequest }: Context,
  ) {
    return this.stock.remove(session, petId, conditionOf(operationRequest, ifVersion));
  }
}
