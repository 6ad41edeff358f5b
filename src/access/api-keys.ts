import { ArgsType, Field, InputType, Int } from 'type-graphql';
import { NAME, NAME_FILTER, PAGE_SIZE } from '../errors/input-rules';
import { DEFAULT_PAGE } from '../graphql/connection';
import { Rules } from '../graphql/json-schema';
import { nullable } from '../graphql/nullable';
import { DateTime } from '../graphql/scalars';
import { Plan, Scope } from '../petstore/enum-types';
import { API_KEY_UPDATE, NEW_API_KEY } from './api-key-service';

@Rules(NEW_API_KEY)
@InputType({ description: 'A key to create.' })
export class NewApiKey {
  @Field(() => String, {
    description: `What the key is for, or who owns it; 1 to ${NAME.maxLength} characters.`,
  })
  name!: string;

  @Field(() => Plan, { defaultValue: Plan.FREE, description: 'The plan, which sets its quota.' })
  plan!: Plan;

  @Field(() => [Scope], { defaultValue: [Scope.READ, Scope.WRITE], description: 'The scopes to grant.' })
  scopes!: Scope[];

  @Field(() => Int, nullable('Requests per minute: required for ENTERPRISE, rejected for other plans.'))
  perMinute?: number | null;

  @Field(() => Int, nullable('Requests per day: required for ENTERPRISE, rejected for other plans.'))
  perDay?: number | null;

  @Field(() => DateTime, nullable('When it expires.'))
  expiresAt?: Date | null;
}

@Rules(API_KEY_UPDATE)
@InputType({ description: 'Changes to a key. Omitted fields keep their values.' })
export class ApiKeyUpdate {
  @Field(() => String, nullable('The new name; cannot be null.'))
  name?: string | null;

  @Field(() => Plan, nullable('The new plan; cannot be null. Any plan but ENTERPRISE clears the two limits.'))
  plan?: Plan | null;

  @Field(() => [Scope], nullable('The scopes to grant instead of the old ones; cannot be null.'))
  scopes?: Scope[] | null;

  @Field(() => Int, nullable('Requests per minute of an ENTERPRISE key.'))
  perMinute?: number | null;

  @Field(() => Int, nullable('Requests per day of an ENTERPRISE key.'))
  perDay?: number | null;

  @Field(() => DateTime, nullable('When it expires; null means never.'))
  expiresAt?: Date | null;
}

@Rules({ search: NAME_FILTER })
@ArgsType()
export class ApiKeyPageArgs {
  @Field(() => Int, nullable(`Page size, 1 to ${PAGE_SIZE.maximum}; ${DEFAULT_PAGE} by default.`))
  first?: number | null;

  @Field(() => String, nullable('Only items after this cursor.'))
  after?: string | null;

  @Field(() => String, nullable('Only keys whose name contains this text, in any case, or whose id begins with it.'))
  search?: string | null;

  @Field(() => Boolean, nullable('Only keys that are neither revoked nor expired; if false, only the others.'))
  isActive?: boolean | null;
}
