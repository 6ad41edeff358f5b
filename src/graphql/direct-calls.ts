import { type GraphQLFieldResolver, type GraphQLNamedType, type GraphQLSchema, isObjectType } from 'graphql';
import { getMetadataStorage } from 'type-graphql';
import { refuseKeyIds } from './scalars';

type Resolvers = ReadonlyMap<unknown, unknown>;
type Resolve = GraphQLFieldResolver<unknown, unknown, Record<string, unknown>>;
type Handler = Pick<
  ReturnType<typeof getMetadataStorage>['queries'][number],
  'target' | 'methodName' | 'schemaName' | 'params' | 'middlewares' | 'roles'
>;
type Parameter = NonNullable<Handler['params']>[number];
/** Reads the value of one method parameter. */
type Read = (...call: Parameters<Resolve>) => unknown;

/**
 * Makes fields call their resolver methods directly. type-graphql's own wrapper sorts the parameters, copies
 * the arguments and awaits their validation on every call, which can take longer than the method. Here input
 * classes only describe types: a method gets its arguments as graphql-js coerced them. Modifies and returns
 * `schema`.
 * @param resolvers the instances by class.
 */
export function callDirectly(schema: GraphQLSchema, resolvers: Resolvers): GraphQLSchema {
  const { queries, mutations, fieldResolvers, objectTypes } = getMetadataStorage();
  const replace = (type: GraphQLNamedType | null | undefined, handler: Handler) => {
    const field = isObjectType(type) ? type.getFields()[handler.schemaName] : undefined;
    if (field) field.resolve = directCall(handler, resolvers);
  };
  for (const handler of queries) replace(schema.getQueryType(), handler);
  for (const handler of mutations) replace(schema.getMutationType(), handler);
  for (const handler of fieldResolvers) {
    const target = handler.getObjectType?.();
    const type = objectTypes.find((metadata) => metadata.target === target);
    if (type) replace(schema.getType(type.name), handler);
  }
  return schema;
}

function directCall(handler: Handler, resolvers: Resolvers): Resolve {
  const { target, methodName, params = [], middlewares = [], roles } = handler;
  const instance = resolvers.get(target) as Record<string, (...values: unknown[]) => unknown>;
  if (middlewares.length || roles)
    throw new Error(`${target.name}.${methodName} has a middleware or roles, which would be bypassed`);
  const reads = [...params].sort((a, b) => a.index - b.index).map(reader);
  return (source, args, context, info) =>
    instance[methodName]?.(...reads.map((read) => read(source, args, context, info)));
}

function reader(parameter: Parameter): Read {
  switch (parameter.kind) {
    case 'arg':
      return checked(parameter, (_source, args) => args[parameter.name]);
    case 'args':
      return checked(parameter, (_source, args) => args);
    case 'root':
      return (source) => source;
    case 'context':
      return (_source, _args, context) => context;
    case 'info':
      return (_source, _args, _context, info) => info;
    default:
      throw new Error(
        `A parameter of ${parameter.target.name}.${parameter.methodName} is of an unknown kind`,
      );
  }
}

function checked(
  { validateFn: check = refuseKeyIds }: Parameter & { validateFn?: unknown },
  read: Read,
): Read {
  return (source, args, context, info) => {
    const value = read(source, args, context, info);
    (check as (value: unknown) => void)(value);
    return value;
  };
}
