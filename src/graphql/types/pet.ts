import { Field, ObjectType } from 'type-graphql';
import { PetStatus } from '../contract/enum-types';
import { Id } from '../contract/scalars';

@ObjectType({ simpleResolvers: true, description: 'An animal in the store.' })
export class Pet {
  @Field(() => Id, { description: 'Assigned on creation.' })
  id!: bigint;

  @Field(() => String, { description: "The animal's name, 1 to 255 characters." })
  name!: string;

  @Field(() => PetStatus, { description: 'The status of the pet.' })
  status!: PetStatus;

  @Field(() => Id, { description: 'The id of the category that the animal belongs to.' })
  categoryId!: bigint;
}
