import 'reflect-metadata';
import { parse } from 'graphql';
import {
  Arg,
  buildSchemaSync,
  createMethodMiddlewareDecorator,
  Directive,
  Field,
  FieldResolver,
  ObjectType,
  Query,
  Resolver,
  Root,
  UseMiddleware,
} from 'type-graphql';
import { anonymousCaller } from '../../src/access/account';
import { KEY_ID } from '../../src/access/types';
import { Deadline } from '../../src/database/deadline';
import { GRAPHQL_API, type OperationRequest } from '../../src/graphql/context';
import { Executor } from '../../src/graphql/executor';
import { OperationQueue } from '../../src/graphql/operation-queue';
import { Id, withIdForms } from '../../src/graphql/scalars';
import { MemoryStore } from '../../src/rate-limit/memory-store';
import { Meter } from '../../src/rate-limit/meter';

const Guarded = (word: string) => createMethodMiddlewareDecorator(async (_data, next) => `${word} ${await next()}`);

@ObjectType({ simpleResolvers: true })
class Thing {
  @Field(() => String)
  name!: string;

  @Directive('@requiresScope(scope: ADMIN)')
  @Field(() => String)
  secret!: string;
}

@Resolver(() => Thing)
class Things {
  private readonly prefix = 'a';

  @Query(() => Thing)
  thing(@Arg('id', () => Id) id: bigint) {
    return { name: `${this.prefix} thing ${id}`, secret: 'told' };
  }

  @Guarded('checked')
  @Query(() => String)
  greeting() {
    return 'hello';
  }

  @UseMiddleware(async (_data, next) => `below: ${await next()}`)
  @FieldResolver(() => String)
  shout(@Root() thing: Thing) {
    return thing.name.toUpperCase();
  }
}

const resolvers = new Map<unknown, unknown>([[Things, new Things()]]);
const schema = withIdForms(
  buildSchemaSync({
    resolvers: [Things],
    container: { get: (target) => resolvers.get(target) },
    validate: false,
  }),
  [KEY_ID],
);
const most = Number.MAX_SAFE_INTEGER;
const executor = new Executor(schema, {
  now: Date.now,
  queue: new OperationQueue(),
  openEventSession: () => {
    throw new Error('no events');
  },
  eventWaitMs: most,
  costs: { query: most, mutation: most, subscription: most, free: most },
  tables: new Map(),
  maxResponseBytes: most,
});
const bans = { banAfter: 20, banSeconds: 60, banMaxSeconds: 3600 };

async function ask(document: string, variables = {}) {
  const caller = anonymousCaller('test', 'write');
  const meter = new Meter(new MemoryStore({ bans, now: Date.now }), caller);
  const observer = { onOperation() {}, onInternalError() {}, onProblem() {} };
  const request = {
    session: { requester: { callerId: 'test', deadline: new Deadline(1000) } },
    caller,
    meter,
    requestId: 'test',
    observer,
    api: GRAPHQL_API,
  } as unknown as OperationRequest;
  return executor.run(parse(document), undefined, variables, request);
}

test('resolvers are called as methods of their instance, with the GraphQL arguments as parameters', async () => {
  const { body } = await ask('{ thing(id: 7) { name } }');
  expect(body.data).toEqual({ thing: { name: 'a thing 7' } });
});

test('an argument for the id of another type rejects the id of an API key', async () => {
  const { body } = await ask('query ($id: ID!) { thing(id: $id) { name } }', { id: 'abcdefghijkl' });
  expect(body).toMatchObject({ errors: [{ extensions: { code: 'BAD_USER_INPUT', details: [{ path: 'id' }] } }] });
});

test('a middleware decorator of a query runs', async () => {
  expect((await ask('{ greeting }')).body.data).toEqual({ greeting: 'checked hello' });
});

test('a middleware of a nested field runs', async () => {
  const { body } = await ask('{ thing(id: 7) { shout } }');
  expect(body.data).toEqual({ thing: { shout: 'below: A THING 7' } });
});

test('@requiresScope is enforced on nested fields, before the operation runs', async () => {
  const { status, body } = await ask(
    '{ a: thing(id: 7) { name } b: thing(id: 7) { ...T } } fragment T on Thing { secret }',
  );
  expect(status).toBe(401);
  expect(body).toEqual({
    errors: [expect.objectContaining({ extensions: expect.objectContaining({ code: 'UNAUTHENTICATED' }) })],
  });
});
