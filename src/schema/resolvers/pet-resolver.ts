import { Args, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Paged } from '../../cost/cost-directives';
import type { PetRow } from '../../database/rows';
import type { CategoryService } from '../../domain/category-service';
import type { InventoryService } from '../../domain/inventory-service';
import type { OrderService } from '../../domain/order-service';
import type { PetService } from '../../domain/pet-service';
import { Errors } from '../../errors/errors-directive';
import { Counted, Requires } from '../../graphql/directives/directives';
import type { Context } from '../../graphql/executor/context';
import { Selected } from '../../graphql/executor/selected';
import type { Selection } from '../../reading/selection';
import { OrderPageArgs, PetPageArgs, pageOf } from '../inputs/page-args';
import { Input, NewPet, PetUpdate } from '../inputs/payloads';
import { nullable } from '../nullable';
import { IdOf } from '../scalars';
import { Category } from '../types/category';
import { OrderConnection, PetConnection } from '../types/connection-types';
import { InventoryItem } from '../types/inventory-item';
import { Pet } from '../types/pet';

@Resolver(() => Pet)
export class PetResolver {
  constructor(
    private readonly pets: PetService,
    private readonly categories: CategoryService,
    private readonly orderService: OrderService,
    private readonly stock: InventoryService,
  ) {}

  @Counted()
  @Requires('READ')
  @Query(() => Pet, nullable('The pet with this id; null if there is none.'))
  async pet(@IdOf('pet') id: bigint, @Ctx() { session }: Context, @Selected() selection: Selection) {
    return (await this.pets.find(session, [id], selection)).get(id);
  }

  @Counted()
  @Requires('READ')
  @Paged('first', 'last')
  @Errors('BAD_USER_INPUT')
  @Query(() => PetConnection, { name: 'pets', description: 'Pets, one page at a time.' })
  list(@Args(() => PetPageArgs) args: PetPageArgs, @Ctx() { session }: Context, @Selected() selection: Selection) {
    return this.pets.list(session, args.filter, pageOf(args), selection);
  }

  @Counted()
  @Requires('WRITE')
  @Errors('BAD_USER_INPUT', 'UNKNOWN_REFERENCE')
  @Mutation(() => Pet, nullable('Adds a pet to the store.'))
  createPet(@Input(NewPet, 'The pet to create.') input: NewPet, @Ctx() { session }: Context) {
    return this.pets.create(session, input);
  }

  @Counted()
  @Requires('WRITE')
  @Errors('BAD_USER_INPUT', 'NOT_FOUND', 'UNKNOWN_REFERENCE')
  @Mutation(() => Pet, nullable('Updates the given fields of a pet; the others keep their values.'))
  updatePet(@IdOf('pet') id: bigint, @Input(PetUpdate) input: PetUpdate, @Ctx() { session, request }: Context) {
    return this.pets.update(session, id, input, request.precondition);
  }

  @Counted()
  @Requires('WRITE')
  @Errors('NOT_FOUND', 'PET_HAS_ORDERS')
  @Mutation(() => Pet, nullable('Deletes a pet that has no orders, and its inventory entry. Returns the deleted pet.'))
  deletePet(@IdOf('pet') id: bigint, @Ctx() { session, request }: Context) {
    return this.pets.delete(session, id, request.precondition);
  }

  @FieldResolver(() => Category, { description: 'The category that the pet belongs to.' })
  category(@Root() pet: PetRow, @Ctx() { loaders, session }: Context, @Selected() selection: Selection) {
    if (pet.category) return pet.category;
    const find = (ids: readonly bigint[]) => this.categories.find(session, ids, selection);
    return loaders.load(selection, pet.categoryId, find, 'category');
  }

  @FieldResolver(() => InventoryItem, nullable('Its stock; null if it is not tracked.'))
  inventory(@Root() pet: PetRow, @Ctx() { loaders, session }: Context, @Selected() selection: Selection) {
    if (pet.inventory !== undefined) return pet.inventory;
    return loaders.load(selection, pet.id, (ids) => this.stock.find(session, ids, selection));
  }

  @Paged('first', 'last')
  @FieldResolver(() => OrderConnection, { description: 'Orders for this pet, one page at a time.' })
  orders(
    @Root() pet: PetRow,
    @Args(() => OrderPageArgs) args: OrderPageArgs,
    @Ctx() { loaders, session }: Context,
    @Selected() selection: Selection,
  ) {
    return loaders.load(selection, pet.id, (ids) =>
      this.orderService.listByPet(session, ids, args.filter, pageOf(args), selection),
    );
  }
}
