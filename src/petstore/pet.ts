import { Field, ObjectType } from 'type-graphql';
import { NAME } from '../errors/input-rules';
import { JsonSchema, Rules } from '../graphql/json-schema';
import { Id } from '../graphql/scalars';
import { PetStatus } from './enum-types';
import { Node } from './node';
import { NEW_PET } from './pets/pet-service';

@Rules(NEW_PET)
@JsonSchema({ required: ['id', 'name', 'categoryId'] })
@ObjectType({ simpleResolvers: true, implements: Node, description: 'A pet in the store.' })
export class Pet {
  @Field(() => Id, { description: "The pet's unique identifier, assigned on creation." })
  id!: bigint;

  @JsonSchema({ example: 'Rex' })
  @Field(() => String, { description: `The pet's name, 1 to ${NAME.maxLength} characters.` })
  name!: string;

  @Field(() => PetStatus, { description: "The pet's status." })
  status!: PetStatus;

  @Field(() => Id, { description: 'ID of the category that the pet belongs to.' })
  categoryId!: bigint;
}
