import { Field, InputType } from 'type-graphql';
import { CATEGORY_UPDATE, NEW_CATEGORY } from '../../domain/category-service';
import { DESCRIPTION, NAME } from '../../domain/input-rules';
import { NEW_PET, PET_UPDATE } from '../../domain/pet-service';
import { JsonSchema, Rules } from '../../graphql/directives/json-schema';
import { PetStatus } from '../enum-types';
import { nullable } from '../nullable';
import { Id } from '../scalars';

@Rules(NEW_PET)
@InputType({ description: 'A pet to create.' })
export class NewPet {
  @Field(() => String, { description: `The pet's name, 1 to ${NAME.maxLength} characters after trimming.` })
  name!: string;

  @Field(() => Id, { description: 'ID of the category that the pet belongs to.' })
  categoryId!: bigint;

  @Field(() => PetStatus, nullable("The pet's status; `available` by default."))
  status?: PetStatus | null;
}

@Rules(PET_UPDATE)
@JsonSchema({ example: { status: 'sold' } })
@InputType({ description: 'Changes to a pet. Omitted fields keep their values.' })
export class PetUpdate {
  @Field(() => String, nullable('The new name; cannot be null.'))
  name?: string | null;

  @Field(() => Id, nullable('The id of the new category; cannot be null.'))
  categoryId?: bigint | null;

  @Field(() => PetStatus, nullable('The new status; cannot be null.'))
  status?: PetStatus | null;
}

@Rules(NEW_CATEGORY)
@InputType({ description: 'A category to create.' })
export class NewCategory {
  @Field(() => String, {
    description: `The category name (for example a kind of pet), 1 to ${NAME.maxLength} characters after trimming.`,
  })
  name!: string;

  @Field(() => String, nullable(`A short description of the category, up to ${DESCRIPTION.maxLength} characters.`))
  description?: string | null;
}

@Rules(CATEGORY_UPDATE)
@JsonSchema({ example: { description: null } })
@InputType({ description: 'Changes to a category. Omitted fields keep their values.' })
export class CategoryUpdate {
  @Field(() => String, nullable('The new name; cannot be null.'))
  name?: string | null;

  @Field(() => String, nullable('The new description; null removes it.'))
  description?: string | null;
}
