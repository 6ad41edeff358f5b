import { Field, InputType, Int } from 'type-graphql';
import { NAME_FILTER } from '../errors/input-rules';
import { WEIGHTS, Weighs } from '../graphql/cost-directives';
import { Stability } from '../graphql/directives';
import { Rules } from '../graphql/json-schema';
import { nullable } from '../graphql/nullable';
import { Id } from '../graphql/scalars';
import { PetStatus } from './enum-types';

@Rules({ name: NAME_FILTER })
@InputType({ description: 'Which pets to list: those that match every given filter.' })
export class PetFilter {
  @Field(() => [Id], nullable('Pets with these ids.\n\nAn empty list matches nothing.'))
  ids?: bigint[] | null;

  @Field(() => [PetStatus], nullable('Pets with any of these statuses.'))
  statuses?: PetStatus[] | null;

  @Field(() => [Id], nullable('Pets in any of these categories.'))
  categoryIds?: bigint[] | null;

  @Weighs(WEIGHTS.search)
  @Field(() => String, nullable('Pets whose name contains this, ignoring case; one or two characters must begin it.'))
  name?: string | null;
}

@Rules({ name: NAME_FILTER })
@InputType({ description: 'Which categories to list: those that match every given filter.' })
export class CategoryFilter {
  @Field(() => [Id], nullable('Categories with these ids.\n\nAn empty list matches nothing.'))
  ids?: bigint[] | null;

  @Weighs(WEIGHTS.search)
  @Field(
    () => String,
    nullable('Categories whose name contains this, ignoring case; one or two characters must begin it.'),
  )
  name?: string | null;
}

@InputType({ description: 'Which orders to list: those that match every given filter.' })
export class OrderFilter {
  @Field(() => [Id], nullable('Orders with these ids.\n\nAn empty list matches nothing.'))
  ids?: bigint[] | null;

  @Field(() => [Id], nullable('Orders for any of these pets.'))
  petIds?: bigint[] | null;

  @Field(() => Boolean, nullable('Orders that are fulfilled (true) or not (false).'))
  complete?: boolean | null;
}

@InputType({ description: 'Which inventory entries to list: those that match every given filter.' })
export class InventoryFilter {
  @Field(() => [Id], nullable('Entries of these pets.\n\nAn empty list matches nothing.'))
  petIds?: bigint[] | null;

  @Field(() => [PetStatus], nullable('Entries of pets with any of these statuses.'))
  statuses?: PetStatus[] | null;

  @Stability('BETA')
  @Field(() => Int, nullable('Entries with at most this many units: what is running low.'))
  maxQuantity?: number | null;
}
