import { MapperKind, mapSchema } from '@graphql-tools/utils';
import {
  defaultFieldResolver,
  type GraphQLFieldResolver,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  isObjectType,
} from 'graphql';
import { rateLimitDirective } from 'graphql-rate-limit-directive';
import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import type { LimitStatus } from '../rate-limit/limit-status';
import type { Charge } from './charge';
import type { Context } from './context';

/** What the package is given of an operation: its charge, until that is taken. */
interface Ticket {
  charge?: Charge;
}

/**
 * The limiter behind every `@rateLimit`, the only place where operations are charged. The charge knows the caller, the plan's
 * two windows and the total cost, so no counted field of an operation runs before all of it is charged.
 */
class OperationLimiter {
  consume(ticket: Ticket): LimitStatus | Promise<LimitStatus> | undefined {
    const { charge } = ticket;
    ticket.charge = undefined;
    return charge?.settle();
  }
}

const { rateLimitDirectiveTransformer } = rateLimitDirective<Ticket, object>({
  limiterClass: OperationLimiter as unknown as typeof RateLimiterAbstract,
  keyGenerator: (_directive, _source, _args, ticket) => ticket as unknown as string,
});

type Resolver = GraphQLFieldResolver<unknown, Context>;

/**
 * Puts the limiter in front of every field with `@rateLimit`: of its `resolve`, or, since that runs for each event, of a
 * subscription's `subscribe`.
 *
 * The package wraps resolvers that do nothing, once for each operation, and is given a ticket: it makes a generator function
 * in each call, whose hidden class keeps what was given until the next full garbage collection (Node 20). With the field's own
 * resolver behind it, that is the whole request, and to keep it took a tenth of the CPU of a small one.
 */
export function enforceRateLimits(schema: GraphQLSchema): GraphQLSchema {
  const open = mapSchema(schema, { [MapperKind.OBJECT_FIELD]: (field) => ({ ...field, resolve: pass }) });
  const limited = rateLimitDirectiveTransformer(open);
  return mapSchema(schema, {
    [MapperKind.OBJECT_FIELD]: ({ resolve = defaultFieldResolver, subscribe, ...field }, name, typeName) => {
      const type = limited.getType(typeName);
      const wrapped = isObjectType(type) ? type.getFields()[name]?.resolve : undefined;
      if (!wrapped || wrapped === pass) return undefined;
      const limiter = (charge: Charge) => wrapped(undefined, NO_ARGS, { charge }, NO_INFO) as Promise<unknown>;
      const behind =
        (resolver: Resolver): Resolver =>
        (source, args, context, info) =>
          context.charge.pass(limiter).then(() => resolver(source, args, context, info));
      return subscribe ? { ...field, resolve, subscribe: behind(subscribe) } : { ...field, resolve: behind(resolve) };
    },
  });
}

function pass(): void {}

/** What the package does not read. */
const NO_ARGS = {};
const NO_INFO = {} as GraphQLResolveInfo;
