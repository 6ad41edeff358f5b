import 'reflect-metadata';
import { graphql } from 'graphql';
import {
  Arg,
  buildSchemaSync,
  type ClassType,
  Ctx,
  Field,
  FieldResolver,
  Info,
  InputType,
  Int,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
  UseMiddleware,
} from 'type-graphql';
import { callDirectly } from '../../src/graphql/direct-calls';
import { Id } from '../../src/graphql/scalars';

@InputType()
class Wish {
  @Field(() => Int, { nullable: true })
  size?: number | null;

  @Field(() => Id, { nullable: true })
  id?: bigint | null;
}

@ObjectType({ simpleResolvers: true })
class Thing {
  @Field(() => String)
  name!: string;
}

@Resolver(() => Thing)
class Things {
  private readonly prefix = 'a ';

  @Query(() => Thing)
  thing(
    @Ctx() context: { name: string },
    @Arg('wish', () => Wish) wish: Wish,
    @Arg('id', () => Id) id: bigint,
  ) {
    return { name: `${this.prefix}${context.name} ${JSON.stringify(wish)} ${id}` };
  }

  @Mutation(() => String)
  fieldName(@Info() info: { fieldName: string }) {
    return info.fieldName;
  }

  @FieldResolver(() => String)
  async shout(@Root() thing: Thing, @Arg('mark', () => String, { defaultValue: '!' }) mark: string) {
    return thing.name.toUpperCase() + mark;
  }
}

@Resolver()
class Guarded {
  @Query(() => String)
  @UseMiddleware(({ context }, next) => (context ? next() : Promise.resolve('guarded')))
  secret() {
    return 'secret';
  }
}

function schemaOf(resolver: ClassType, instance: object) {
  const resolvers = new Map<unknown, unknown>([[resolver, instance]]);
  const built = buildSchemaSync({
    resolvers: [resolver],
    container: { get: (target) => resolvers.get(target) },
    validate: false,
  });
  return callDirectly(built, resolvers);
}

test('methods of the instance get the arguments that their parameters declare, in any order', async () => {
  const schema = schemaOf(Things, new Things());
  const ask = (source: string) => graphql({ schema, source, contextValue: { name: 'thing' } });
  expect(await ask('{ thing(id: 7, wish: { size: 1 }) { name shout loud: shout(mark: "?") } }')).toEqual({
    data: {
      thing: {
        name: 'a thing {"size":1} 7',
        shout: 'A THING {"SIZE":1} 7!',
        loud: 'A THING {"SIZE":1} 7?',
      },
    },
  });
  expect(await ask('mutation { fieldName }')).toEqual({ data: { fieldName: 'fieldName' } });
});

test.each(['id: "abcdefghijkl", wish: {}', 'id: 1, wish: { id: "abcdefghijkl" }'])(
  'a key id is not an id of anything else: %s',
  async (args) => {
    const schema = schemaOf(Things, new Things());
    const { data, errors } = await graphql({
      schema,
      source: `{ thing(${args}) { name } }`,
      contextValue: {},
    });
    expect(data).toBeNull();
    expect(errors?.[0]?.extensions).toEqual({ code: 'BAD_USER_INPUT' });
  },
);

test('anything that would be skipped, such as a middleware, stops the start', () => {
  expect(() => schemaOf(Guarded, new Guarded())).toThrow('Guarded.secret has a middleware or roles');
});
