import { printSchemaWithDirectives } from '@graphql-tools/utils';
import { CategoryService } from '../domain/category-service';
import { InventoryService } from '../domain/inventory-service';
import { OrderService } from '../domain/order-service';
import { PetService } from '../domain/pet-service';
import { buildSchema } from './schema';

/** The schema as it is committed in schema.graphql, with its directives. */
export function printedSchema(): string {
  const schema = buildSchema({
    categories: new CategoryService(),
    pets: new PetService(),
    orders: new OrderService(),
    inventory: new InventoryService(),
  });
  return `${printSchemaWithDirectives(schema)}\n`;
}
