import { Field, ObjectType } from 'type-graphql';
import { Weighs } from '../contract/cost-directives';
import { Id } from '../contract/scalars';

@ObjectType({ simpleResolvers: true, description: 'A kind of animal.' })
export class Category {
  @Field(() => Id, { description: 'Assigned on creation.' })
  id!: bigint;

  @Field(() => String, { description: 'The name, 1 to 255 characters.' })
  name!: string;

  @Weighs(10)
  @Field(() => String, { nullable: true, description: 'A short description, up to 2000 characters.' })
  description!: string | null;
}
