import 'reflect-metadata';
import {
  Authorized,
  Field,
  FieldResolver,
  getMetadataStorage,
  ObjectType,
  Query,
  Resolver,
  Root,
  UseMiddleware,
} from 'type-graphql';
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

const domains = toyDomains();
const building = (resolver: object) => () =>
  buildSchema({ ...domains, resolvers: [...domains.resolvers, resolver], subscribe: jest.fn() });

test.each([
  ['a field of a class with simpleResolvers', new SkippingResolver(), 'Skipping.secret'],
  ['an inherited field', new InheritingResolver(), 'Inheriting.secret'],
])('startup fails if type-graphql would not run the middleware of %s', (_what, resolver, field) => {
  expect(building(resolver)).toThrow(`${field} has @UseMiddleware, which only a @FieldResolver runs`);
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
