import { Field, ObjectType } from 'type-graphql';
import { NAME } from '../../domain/input-rules';
import { NEW_PET } from '../../domain/pet-service';
import { JsonSchema, Rules } from '../../graphql/directives/json-schema';
import { PetStatus } from '../enum-types';
import { Id } from '../scalars';

@Rules(NEW_PET)
@JsonSchema({ required: ['id', 'name', 'categoryId'] })
@ObjectType({ simpleResolvers: true, description: 'An animal in the store.' })
export class Pet {
  @Field(() => Id, { description: 'Unique identifier assigned on creation.' })
  id!: bigint;

  @JsonSchema({ example: 'Rex' })
  @Field(() => String, { description: `The animal's name, 1 to ${NAME.maxLength} characters.` })
  name!: string;

  @Field(() => PetStatus, { description: 'Status of the pet.' })
  status!: PetStatus;

  @Field(() => Id, { description: 'ID of the category the animal belongs to.' })
  categoryId!: bigint;
}
