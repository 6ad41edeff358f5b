import 'reflect-metadata';
import type { GraphQLArgument, GraphQLSchema } from 'graphql';
import { buildSchemaSync } from 'type-graphql';
import type { CategoryService } from '../domain/category-service';
import type { InventoryService } from '../domain/inventory-service';
import type { OrderService } from '../domain/order-service';
import type { PetService } from '../domain/pet-service';
import { CategoryResolver } from './resolvers/category-resolver';
import { InventoryResolver } from './resolvers/inventory-resolver';
import { OrderResolver } from './resolvers/order-resolver';
import { PetResolver } from './resolvers/pet-resolver';

/** What the resolvers call. */
export interface Services {
  readonly categories: CategoryService;
  readonly pets: PetService;
  readonly orders: OrderService;
  readonly inventory: InventoryService;
}

/** The schema over `services`. */
export function buildSchema({ categories, pets, orders, inventory }: Services): GraphQLSchema {
  const resolvers = new Map<unknown, unknown>([
    [PetResolver, new PetResolver(pets, categories, orders, inventory)],
    [CategoryResolver, new CategoryResolver(categories, pets)],
    [OrderResolver, new OrderResolver(orders, pets)],
    [InventoryResolver, new InventoryResolver(inventory, pets)],
  ]);
  const schema = buildSchemaSync({
    resolvers: [PetResolver, CategoryResolver, OrderResolver, InventoryResolver],
    container: { get: (resolver) => resolvers.get(resolver) },
    validate: false,
  });
  // Decorators of parameters are evaluated last to first: a reader expects `updatePet(id, input)`.
  for (const field of Object.values(schema.getMutationType()?.getFields() ?? {}))
    (field.args as GraphQLArgument[]).reverse();
  return schema;
}
