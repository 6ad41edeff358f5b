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
import type { Meter } from '../rate-limit/meter';
import type { Context } from './context';

/**
 * The package graphql-rate-limit-directive, whose use is a requirement of the product, enforces `@rateLimit`. Here it does one
 * thing: it calls the limiter before a marked field runs. The meter (`rate-limit/`) has the quotas, and makes the error.
 */

/**
 * The limiter of every `@rateLimit`. Before the first counted field runs, the limiter charges the caller for all counted fields
 * of the operation. The other counted fields wait for this charge.
 */
class OperationLimiter {
  consume(meter: Meter, countedFields: number): Promise<LimitStatus> {
    return meter.chargeOrThrow(countedFields);
  }
}

/** The context that `graphql-rate-limit-directive` receives. */
interface Charged {
  readonly meter: Meter;
  readonly countedFields: number;
}

const { rateLimitDirectiveTransformer } = rateLimitDirective<Charged, object>({
  limiterClass: OperationLimiter as unknown as typeof RateLimiterAbstract,
  // The package declares the key as a string, but only passes it to `consume`.
  keyGenerator: (_directive, _source, _args, { meter }) => meter as unknown as string,
  pointsCalculator: (_directive, _source, _args, { countedFields }) => countedFields,
});

type Resolver = GraphQLFieldResolver<unknown, Context>;

/**
 * Runs the limiter before every field with `@rateLimit`. For a subscription, the limiter runs before `subscribe`, since
 * `resolve` runs for each event.
 *
 * The package creates a generator function in each call. V8 keeps everything that the function references until the next
 * full garbage collection (Node 20 to 26; figures in bench/README.md). This function therefore gives the package an empty
 * resolver to wrap, and a context without the request. Otherwise V8 would keep every request until that collection.
 */
export function enforceRateLimits(schema: GraphQLSchema): GraphQLSchema {
  const empty = mapSchema(schema, { [MapperKind.OBJECT_FIELD]: (field) => ({ ...field, resolve: doNothing }) });
  const limited = rateLimitDirectiveTransformer(empty);
  return mapSchema(schema, {
    [MapperKind.OBJECT_FIELD]: ({ resolve = defaultFieldResolver, subscribe, ...field }, name, typeName) => {
      const limit = resolverOf(limited, typeName, name);
      if (!limit || limit === doNothing) return undefined;
      const after =
        (resolver: Resolver): Resolver =>
        async (source, args, context, info) => {
          const { operationRequest, countedFields } = context;
          await limit(undefined, {}, { meter: operationRequest.meter, countedFields }, NO_INFO);
          return resolver(source, args, context, info);
        };
      return subscribe ? { ...field, resolve, subscribe: after(subscribe) } : { ...field, resolve: after(resolve) };
    },
  });
}

/** A placeholder, since the package does not read the `info` argument. */
const NO_INFO = {} as GraphQLResolveInfo;

function doNothing(): void {}

function resolverOf(schema: GraphQLSchema, typeName: string, name: string) {
  const type = schema.getType(typeName);
  return isObjectType(type) ? (type.getFields()[name]?.resolve as GraphQLFieldResolver<unknown, Charged>) : undefined;
}
