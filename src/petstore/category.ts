import { Field, ObjectType } from 'type-graphql';
import { DESCRIPTION, NAME } from '../errors/input-rules';
import { WEIGHTS, Weighs } from '../graphql/cost-directives';
import { JsonSchema, Rules } from '../graphql/json-schema';
import { nullable } from '../graphql/nullable';
import { Id } from '../graphql/scalars';
import { NEW_CATEGORY } from './categories/category-service';
import { Node } from './node';

@Rules(NEW_CATEGORY)
@ObjectType({ simpleResolvers: true, implements: Node, description: 'A kind of pet.' })
export class Category {
  @Field(() => Id, { description: "The category's unique identifier, assigned on creation." })
  id!: bigint;

  @JsonSchema({ example: 'Dogs' })
  @Field(() => String, {
    description: `The category name (for example a kind of pet), 1 to ${NAME.maxLength} characters.`,
  })
  name!: string;

  @Weighs(WEIGHTS.text)
  @JsonSchema({ example: 'Loyal, and always hungry' })
  @Field(() => String, nullable(`A short description of the category, up to ${DESCRIPTION.maxLength} characters.`))
  description!: string | null;
}
