import { Args, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { FieldSelection, PageSelection, RowSelection } from '../../database/reading/selection';
import type { Context } from '../../graphql/context';
import { Paged } from '../../graphql/cost-directives';
import { Errors, Input, nullable, RateLimited, RequiresScope } from '../../graphql/directives';
import { pageOf } from '../../graphql/page-args';
import { IdOf } from '../../graphql/scalars';
import { Selected } from '../../graphql/selected';
import type { CategoryService } from '../categories/category-service';
import { NewPet, OrderPageArgs, PetPageArgs, PetUpdate } from '../inputs';
import type { InventoryService } from '../inventory/inventory-service';
import type { PetRow } from '../model';
import type { OrderService } from '../orders/order-service';
import { Category, InventoryItem, OrderConnection, Pet, PetConnection } from '../types';
import type { PetService } from './pet-service';

@Resolver(() => Pet)
export class PetResolver {
  constructor(
    private readonly pets: PetService,
    private readonly categories: CategoryService,
    private readonly orderService: OrderService,
    private readonly stock: InventoryService,
  ) {}

  @RateLimited()
  @RequiresScope('READ')
  @Query(() => Pet, nullable('The pet with this id; null if there is none.'))
  pet(@IdOf('pet') id: bigint, @Ctx() { session }: Context, @Selected() selection: RowSelection) {
    return this.pets.get(session, id, selection);
  }

  @RateLimited()
  @RequiresScope('READ')
  @Paged('first', 'last')
  @Errors('BAD_USER_INPUT')
  @Query(() => PetConnection, { name: 'pets', description: 'Pets, one page at a time.' })
  list(@Args(() => PetPageArgs) args: PetPageArgs, @Ctx() { session }: Context, @Selected() selection: PageSelection) {
    return this.pets.list(session, args.filter, pageOf(args), selection);
  }

  @RateLimited()
  @RequiresScope('WRITE')
  @Errors('BAD_USER_INPUT', 'UNKNOWN_REFERENCE')
  @Mutation(() => Pet, nullable('Adds a pet to the store.'))
  createPet(@Input(NewPet, 'The pet to create.') input: NewPet, @Ctx() { session }: Context) {
    return this.pets.create(session, input);
  }

  @RateLimited()
  @RequiresScope('WRITE')
  @Errors('BAD_USER_INPUT', 'NOT_FOUND', 'UNKNOWN_REFERENCE')
  @Mutation(() => Pet, nullable('Updates the given fields of a pet; other fields keep their values.'))
  updatePet(@IdOf('pet') id: bigint, @Input(PetUpdate) input: PetUpdate, @Ctx() { session, request }: Context) {
    return this.pets.update(session, id, input, request.precondition);
  }

  @RateLimited()
  @RequiresScope('WRITE')
  @Errors('NOT_FOUND', 'PET_HAS_ORDERS')
  @Mutation(
    () => Pet,
    nullable('Deletes a pet and its inventory entry. The pet must have no orders. Returns the deleted pet.'),
  )
  deletePet(@IdOf('pet') id: bigint, @Ctx() { session, request }: Context) {
    return this.pets.delete(session, id, request.precondition);
  }

  @FieldResolver(() => Category, { description: 'The category that the pet belongs to.' })
  category(@Root() pet: PetRow, @Ctx() { loaders, session }: Context, @Selected() selection: FieldSelection) {
    if (pet.category) return pet.category;
    const find = (ids: readonly bigint[]) => this.categories.find(session, ids, selection);
    return loaders.load(selection, pet.categoryId, find, 'category');
  }

  @FieldResolver(() => InventoryItem, nullable("The pet's stock; null if it is not tracked."))
  inventory(@Root() pet: PetRow, @Ctx() { loaders, session }: Context, @Selected() selection: FieldSelection) {
    if (pet.inventory !== undefined) return pet.inventory;
    return loaders.load(selection, pet.id, (ids) => this.stock.find(session, ids, selection));
  }

  @Paged('first', 'last')
  @FieldResolver(() => OrderConnection, { description: 'Orders for this pet, one page at a time.' })
  orders(
    @Root() pet: PetRow,
    @Args(() => OrderPageArgs) args: OrderPageArgs,
    @Ctx() { loaders, session }: Context,
    @Selected() selection: FieldSelection,
  ) {
    return loaders.load(selection, pet.id, (ids) =>
      this.orderService.listByPet(session, ids, args.filter, pageOf(args), selection),
    );
  }
}
