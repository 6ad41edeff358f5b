import { Field, InputType, Int } from 'type-graphql';
import type {
  ApiKeyUpdate as ApiKeyUpdateShape,
  NewApiKey as NewApiKeyShape,
} from '../../access/api-key-service';
import { Plan, Scope } from '../enums';
import { DateTime } from '../scalars';

@InputType({ description: 'A key to make.' })
export class NewApiKey implements NewApiKeyShape {
  @Field(() => String, { description: 'What it is for, or whose it is: 1 to 255 characters.' })
  name!: string;

  @Field(() => Plan, { defaultValue: Plan.FREE, description: 'The plan whose quota it has.' })
  plan!: Plan;

  @Field(() => [Scope], { defaultValue: [Scope.READ, Scope.WRITE], description: 'What it may do.' })
  scopes!: Scope[];

  @Field(() => Int, {
    nullable: true,
    description: 'Requests a minute: required for ENTERPRISE, refused otherwise.',
  })
  perMinute?: number | null;

  @Field(() => Int, {
    nullable: true,
    description: 'Requests a day: required for ENTERPRISE, refused otherwise.',
  })
  perDay?: number | null;

  @Field(() => DateTime, { nullable: true, description: 'From when on it is refused.' })
  expiresAt?: Date | null;
}

@InputType({ description: 'A change of a key: what is absent stays as it is.' })
export class ApiKeyUpdate implements ApiKeyUpdateShape {
  @Field(() => String, { nullable: true, description: 'The new name; not null.' })
  name?: string | null;

  @Field(() => Plan, {
    nullable: true,
    description: 'The new plan; not null. Other than ENTERPRISE it clears the two numbers.',
  })
  plan?: Plan | null;

  @Field(() => [Scope], { nullable: true, description: 'All that it may do from now on; not null.' })
  scopes?: Scope[] | null;

  @Field(() => Int, { nullable: true, description: 'Requests a minute of an ENTERPRISE key.' })
  perMinute?: number | null;

  @Field(() => Int, { nullable: true, description: 'Requests a day of an ENTERPRISE key.' })
  perDay?: number | null;

  @Field(() => DateTime, { nullable: true, description: 'From when on it is refused; null: never.' })
  expiresAt?: Date | null;
}
