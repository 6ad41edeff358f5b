import { Field, InputType, Int } from 'type-graphql';
import { WEIGHTS, Weighs } from '../../cost/cost-directives';
import { NAME_FILTER } from '../../domain/input-rules';
import { Stability } from '../../graphql/directives/directives';
import { Rules } from '../../graphql/directives/json-schema';
import { PetStatus } from '../enum-types';
import { Id } from '../scalars';

@Rules({ name: NAME_FILTER })
@InputType({ description: 'Which pets to list: those that match every given filter.' })
export class PetFilter {
  @Field(() => [Id], { nullable: true, description: 'Pets with these ids. An empty list matches nothing.' })
  ids?: bigint[] | null;

  @Field(() => [PetStatus], { nullable: true, description: 'Pets with any of these statuses.' })
  statuses?: PetStatus[] | null;

  @Field(() => [Id], { nullable: true, description: 'Pets in any of these categories.' })
  categoryIds?: bigint[] | null;

  @Weighs(WEIGHTS.search)
  @Field(() => String, {
    nullable: true,
    description: 'Pets whose name contains this, ignoring case; one or two characters must begin it.',
  })
  name?: string | null;
}

@Rules({ name: NAME_FILTER })
@InputType({ description: 'Which categories to list: those that match every given filter.' })
export class CategoryFilter {
  @Field(() => [Id], { nullable: true, description: 'Categories with these ids. An empty list matches nothing.' })
  ids?: bigint[] | null;

  @Weighs(WEIGHTS.search)
  @Field(() => String, {
    nullable: true,
    description: 'Categories whose name contains this, ignoring case; one or two characters must begin it.',
  })
  name?: string | null;
}

@InputType({ description: 'Which orders to list: those that match every given filter.' })
export class OrderFilter {
  @Field(() => [Id], { nullable: true, description: 'Orders with these ids. An empty list matches nothing.' })
  ids?: bigint[] | null;

  @Field(() => [Id], { nullable: true, description: 'Orders for any of these pets.' })
  petIds?: bigint[] | null;

  @Field(() => Boolean, { nullable: true, description: 'Orders that are fulfilled (true) or not (false).' })
  complete?: boolean | null;
}

@InputType({ description: 'Which inventory entries to list: those that match every given filter.' })
export class InventoryFilter {
  @Field(() => [Id], { nullable: true, description: 'Entries of these pets. An empty list matches nothing.' })
  petIds?: bigint[] | null;

  @Field(() => [PetStatus], { nullable: true, description: 'Entries of pets with any of these statuses.' })
  statuses?: PetStatus[] | null;

  @Stability('BETA')
  @Field(() => Int, { nullable: true, description: 'Entries with at most this many units: what is running low.' })
  maxQuantity?: number | null;
}
