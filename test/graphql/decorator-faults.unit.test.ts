import 'reflect-metadata';
import {
  Arg,
  Authorized,
  Field,
  FieldResolver,
  getMetadataStorage,
  InputType,
  InterfaceType,
  ObjectType,
  Query,
  Resolver,
  Root,
  UseMiddleware,
} from 'type-graphql';
import { RequiresScope } from '../../src/graphql/directives';
import { buildSchema } from '../../src/graphql/schema';
import { toyDomains } from '../toys/toys';

const Hidden = () => UseMiddleware(async () => 'hidden');
const text = { description: 'A text.' };

@ObjectType({ simpleResolvers: true, description: 'A class whose middleware would not run.' })
class Skipping {
  @Hidden()
  @Field(() => String, { ...text, name: 'secret' })
  word!: string;
}

@ObjectType({ simpleResolvers: true, description: 'A class that inherits such a field.' })
class Inheriting extends Skipping {
  @Field(() => String, text)
  other!: string;
}

@ObjectType({ description: 'A class whose middleware runs.' })
class Running {
  @Hidden()
  @Field(() => String, text)
  secret!: string;
}

@ObjectType({ simpleResolvers: true, description: 'A class with a resolver whose middleware runs.' })
class Resolved {
  @Field(() => String, text)
  secret!: string;
}

@Resolver()
class SkippingResolver {
  @Query(() => Skipping, text)
  skipping() {
    return {};
  }
}

@Resolver()
class InheritingResolver {
  @Query(() => Inheriting, text)
  inheriting() {
    return {};
  }
}

@Resolver(() => Resolved)
class RunningResolver {
  @Query(() => Running, text)
  running() {
    return {};
  }

  @Query(() => Resolved, text)
  resolved() {
    return {};
  }

  @Hidden()
  @FieldResolver()
  secret(@Root() { secret }: Resolved) {
    return secret;
  }
}

@InterfaceType({ description: 'An interface with a restricted field.' })
abstract class Guarded {
  @RequiresScope('ADMIN')
  @Field(() => String, text)
  secret!: string;
}

@ObjectType({ description: 'A class that declares the field again, without a restriction.', implements: Guarded })
class Unguarded implements Guarded {
  @Field(() => String, text)
  secret!: string;
}

@RequiresScope('ADMIN')
@ObjectType({ description: 'A restricted class.' })
class RestrictedClass {
  @Field(() => String, text)
  word!: string;
}

@InputType({ description: 'An input with a restricted field.' })
class RestrictedInput {
  @RequiresScope('ADMIN')
  @Field(() => String, text)
  note!: string;
}

@Resolver()
class GuardedResolver {
  @Query(() => Guarded, text)
  guarded() {
    return new Unguarded();
  }

  @Query(() => Unguarded, text)
  unguarded() {
    return new Unguarded();
  }
}

@Resolver()
class RestrictedClassResolver {
  @Query(() => RestrictedClass, text)
  restricted() {
    return {};
  }
}

@Resolver()
class RestrictedInputResolver {
  @Query(() => String, text)
  restrictedInput(@Arg('input', () => RestrictedInput, text) { note }: RestrictedInput) {
    return note;
  }
}

const domains = toyDomains();
const building = (resolver: object) => () =>
  buildSchema({ ...domains, resolvers: [...domains.resolvers, resolver], subscribe: jest.fn() });

test.each([
  ['a field of a class with simpleResolvers', new SkippingResolver(), 'Skipping.secret'],
  ['an inherited field', new InheritingResolver(), 'Inheriting.secret'],
])('startup fails if type-graphql would not run the middleware of %s', (_what, resolver, field) => {
  expect(building(resolver)).toThrow(`${field} has @UseMiddleware, which only a @FieldResolver runs`);
});

test.each([
  ['an input field', new RestrictedInputResolver(), 'RestrictedInput.note: @RequiresScope is checked only on fields'],
  ['a class', new RestrictedClassResolver(), 'RestrictedClass: use @RequiresScope on its fields'],
  ['only the interface', new GuardedResolver(), 'Unguarded.secret needs the same @RequiresScope as Guarded.secret'],
])('startup fails if nothing would check the scope of %s', (_what, resolver, fault) => {
  expect(building(resolver)).toThrow(fault);
});

test('startup accepts middlewares that type-graphql runs', () => {
  expect(building(new RunningResolver())).not.toThrow();
});

test('startup fails if a field or a class has @Authorized, which nothing would check', () => {
  const { authorizedFields, authorizedResolver } = getMetadataStorage();
  try {
    Authorized()(Resolved.prototype, 'secret');
    Authorized()(RunningResolver);
    expect(building(new RunningResolver())).toThrow(
      'Resolved.secret, RunningResolver: use @RequiresScope instead of @Authorized',
    );
  } finally {
    authorizedFields.length = 0;
    authorizedResolver.length = 0;
  }
});
