// biome-ignore-all assist/source/organizeImports: the root types have their fields in the order of the resolvers.
import 'reflect-metadata';
import { PetResolver } from '../petstore/pets/pet-resolver';
import { CategoryResolver } from '../petstore/categories/category-resolver';
import { OrderResolver } from '../petstore/orders/order-resolver';
import { InventoryResolver } from '../petstore/inventory/inventory-resolver';
import { NodeResolver } from '../petstore/node-resolver';
import { ViewerResolver } from '../access/viewer-resolver';
import { ApiKeyResolver } from '../access/api-key-resolver';
import { ChangeResolver, type Passes } from '../petstore/change-resolver';
import { type GraphQLArgument, type GraphQLSchema, isObjectType } from 'graphql';
import { buildSchemaSync, type NonEmptyArray } from 'type-graphql';
import type { ApiKeyService } from '../access/api-key-service';
import type { Topic } from '../database/changes';
import type { Services as DomainServices } from '../petstore/services';
import type { Hub } from '../events/hub';
import { enforceRateLimits } from './rate-limit-directive';
import { defineDirectives } from './directives';
import type { Store } from '../rate-limit/store';
import type { UsageService } from '../access/usage-service';
import { describeDirectives } from './descriptions';
import { refuseOtherIds } from './scalars';
import { TypedRows } from '../petstore/typed-rows';

/** The services behind the resolvers. */
export interface Services extends DomainServices {
  readonly apiKeys: ApiKeyService;
  readonly limits: Store;
  readonly usage: UsageService;
  readonly events: Hub;
}

/** A class of resolvers. */
export type Resolver = new (...services: never[]) => object;

/** The rows of the shop that are found by their references. */
export function rowsOf({ pets, categories, orders, inventory }: DomainServices): TypedRows {
  return new TypedRows({ Pet: pets, Category: categories, Order: orders, InventoryItem: inventory });
}

/**
 * Builds the schema over `services`, with the rate limiter in front of every counted field.
 * @param more resolvers beside those of the shop.
 */
export function buildSchema(
  { apiKeys, limits, usage, events, ...shop }: Services,
  more: readonly (readonly [Resolver, object])[] = [],
): GraphQLSchema {
  const resolvers = new Map<Resolver, object>([
    [PetResolver, new PetResolver(shop.pets, shop.categories, shop.orders, shop.inventory)],
    [CategoryResolver, new CategoryResolver(shop.categories, shop.pets)],
    [OrderResolver, new OrderResolver(shop.orders, shop.pets)],
    [InventoryResolver, new InventoryResolver(shop.inventory, shop.pets)],
    [ViewerResolver, new ViewerResolver(usage)],
    [ApiKeyResolver, new ApiKeyResolver(apiKeys, limits, usage)],
    [ChangeResolver, new ChangeResolver()],
    [NodeResolver, new NodeResolver(rowsOf(shop))],
    ...more,
  ]);
  const built = buildSchemaSync({
    resolvers: [...resolvers.keys()] as NonEmptyArray<Resolver>,
    container: resolvers,
    // Checked in all arguments, unless an argument has a check of its own.
    validateFn: refuseOtherIds,
    pubSub: {
      subscribe: (topic, passes) => events.subscribe(topic as Topic, passes as Passes),
      publish: () => undefined,
    },
  });
  // Rows are plain objects, instances of no class; what interfaces return says its type.
  for (const type of Object.values(built.getTypeMap())) if (isObjectType(type)) type.isTypeOf = undefined;
  const schema = enforceRateLimits(describeDirectives(defineDirectives(built)));
  // Parameter decorators are evaluated last to first, but readers expect `updatePet(id, input)`.
  for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    (field.args as GraphQLArgument[]).reverse();
  }
  return schema;
}
