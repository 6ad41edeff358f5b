import 'reflect-metadata';
import type { GraphQLArgument, GraphQLSchema } from 'graphql';
import { buildSchemaSync, type NonEmptyArray } from 'type-graphql';
import type { ApiKeyService } from '../access/api-key-service';
import type { Topic } from '../database/changes';
import type { CategoryService } from '../domain/category-service';
import type { InventoryService } from '../domain/inventory-service';
import type { OrderService } from '../domain/order-service';
import type { PetService } from '../domain/pet-service';
import type { Hub } from '../events/hub';
import { enforceRateLimits } from '../graphql/charging/rate-limit-directive';
import { defineDirectives } from '../graphql/directives/directives';
import { isolateMutations } from '../graphql/idempotency/savepoints';
import type { Store } from '../rate-limit/store';
import { ApiKeyResolver } from './resolvers/api-key-resolver';
import { CategoryResolver } from './resolvers/category-resolver';
import { ChangeResolver, type Passes } from './resolvers/change-resolver';
import { InventoryResolver } from './resolvers/inventory-resolver';
import { OrderResolver } from './resolvers/order-resolver';
import { PetResolver } from './resolvers/pet-resolver';
import { ViewerResolver } from './resolvers/viewer-resolver';
import { refuseKeyIds } from './scalars';

/** The services behind the resolvers. */
export interface Services {
  readonly categories: CategoryService;
  readonly pets: PetService;
  readonly orders: OrderService;
  readonly inventory: InventoryService;
  readonly apiKeys: ApiKeyService;
  readonly limits: Store;
  readonly events: Hub;
}

type Resolver = new (...services: never[]) => object;

/** Builds the schema over `services`, with the rate limiter in front of every counted field. */
export function buildSchema({ categories, pets, orders, inventory, apiKeys, limits, events }: Services): GraphQLSchema {
  const resolvers = new Map<Resolver, object>([
    [PetResolver, new PetResolver(pets, categories, orders, inventory)],
    [CategoryResolver, new CategoryResolver(categories, pets)],
    [OrderResolver, new OrderResolver(orders, pets)],
    [InventoryResolver, new InventoryResolver(inventory, pets)],
    [ViewerResolver, new ViewerResolver()],
    [ApiKeyResolver, new ApiKeyResolver(apiKeys, limits)],
    [ChangeResolver, new ChangeResolver()],
  ]);
  const built = buildSchemaSync({
    resolvers: [...resolvers.keys()] as NonEmptyArray<Resolver>,
    container: resolvers,
    // Checked in all arguments, unless an argument has a check of its own.
    validateFn: refuseKeyIds,
    pubSub: {
      subscribe: (topic, passes) => events.subscribe(topic as Topic, passes as Passes),
      publish: () => undefined,
    },
  });
  const schema = isolateMutations(enforceRateLimits(defineDirectives(built)));
  // Parameter decorators are evaluated last to first, but readers expect `updatePet(id, input)`.
  for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    (field.args as GraphQLArgument[]).reverse();
  }
  return schema;
}
