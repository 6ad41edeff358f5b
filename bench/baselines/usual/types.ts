import { Field, ID, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import { PetStatus } from '../../../src/database/generated/client';

registerEnumType(PetStatus, { name: 'PetStatus' });

@ObjectType()
export class Pet {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  name!: string;

  @Field(() => PetStatus)
  status!: PetStatus;

  @Field(() => ID)
  categoryId!: string;
}

@ObjectType()
export class PetConnection {
  @Field(() => [Pet])
  nodes!: Pet[];
}

@ObjectType()
export class Category {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  name!: string;

  @Field(() => String, { nullable: true })
  description!: string | null;
}

@ObjectType()
export class CategoryConnection {
  @Field(() => [Category])
  nodes!: Category[];
}

@ObjectType()
export class Order {
  @Field(() => ID)
  id!: string;

  @Field(() => ID, { nullable: true })
  petId!: string | null;

  @Field(() => Int, { nullable: true })
  quantity!: number | null;

  @Field(() => Date, { nullable: true })
  shipDate!: Date | null;

  @Field(() => Boolean)
  complete!: boolean;
}

@InputType()
export class NewPet {
  @Field(() => String)
  name!: string;

  @Field(() => ID)
  categoryId!: string;

  @Field(() => PetStatus, { nullable: true })
  status?: PetStatus;
}

@InputType()
export class NewOrder {
  @Field(() => ID, { nullable: true })
  petId?: string;

  @Field(() => Int, { nullable: true })
  quantity?: number;

  @Field(() => Date, { nullable: true })
  shipDate?: Date;

  @Field(() => Boolean, { nullable: true })
  complete?: boolean;
}
