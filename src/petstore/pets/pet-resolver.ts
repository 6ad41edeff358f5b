import { Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import type { FieldSelection, PageSelection, RowSelection } from '../../database/reading/selection';
import type { Context } from '../../graphql/context';
import { Paged, WEIGHTS, Weighs } from '../../graphql/cost-directives';
import { Errors, Input, nullable, RateLimited, RequiresScope } from '../../graphql/directives';
import { pageOf } from '../../graphql/page-args';
import { IdOf } from '../../graphql/scalars';
import { Selected } from '../../graphql/selected';
import { NewPet, PetPageArgs, PetUpdate } from '../inputs';
import { conditionOf, IfVersion } from '../row-metadata';
import { Pet, PetConnection } from '../types';
import type { PetService } from './pet-service';

@Resolver(() => Pet)
export class PetResolver {
  constructor(private readonly pets: PetService) {}

  @Weighs(WEIGHTS.statement)
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

  @Weighs(WEIGHTS.creation)
  @RateLimited()
  @RequiresScope('WRITE')
  @Errors('BAD_USER_INPUT', 'UNKNOWN_REFERENCE')
  @Mutation(() => Pet, nullable('Adds a pet to the store.'))
  createPet(
    @Input(NewPet, 'The pet to create.') input: NewPet,
    @Ctx() { session }: Context,
    @Selected() selection: FieldSelection,
  ) {
    return this.pets.create(session, input, selection);
  }

  @Weighs(WEIGHTS.change)
  @RateLimited()
  @RequiresScope('WRITE')
  @Errors('BAD_USER_INPUT', 'NOT_FOUND', 'PRECONDITION_FAILED', 'UNKNOWN_REFERENCE')
  @Mutation(() => Pet, nullable('Updates the given fields of a pet; other fields keep their values.'))
  updatePet(
    @IdOf('pet') id: bigint,
    @Input(PetUpdate) input: PetUpdate,
    @IfVersion() ifVersion: string | null | undefined,
    @Ctx() { session, operationRequest }: Context,
    @Selected() selection: FieldSelection,
  ) {
    return this.pets.update(session, id, input, conditionOf(operationRequest, ifVersion), selection);
  }

  @Weighs(WEIGHTS.change)
  @RateLimited()
  @RequiresScope('WRITE')
  @Errors('NOT_FOUND', 'PRECONDITION_FAILED', 'PET_HAS_ORDERS')
  @Mutation(
    () => Pet,
    nullable('Deletes a pet and its inventory entry. The pet must have no orders. Returns the deleted pet.'),
  )
  deletePet(
    @IdOf('pet') id: bigint,
    @IfVersion() ifVersion: string | null | undefined,
    @Ctx() { session, operationRequest }: Context,
  ) {
    return this.pets.delete(session, id, conditionOf(operationRequest, ifVersion));
  }
}
