import { CategoryService } from './category-service';
import { InventoryService } from './inventory-service';
import { OrderService } from './order-service';
import { PetService } from './pet-service';

/** The shop's services, one per resource. */
export type Services = ReturnType<typeof createServices>;

export function createServices() {
  return {
    categories: new CategoryService(),
    pets: new PetService(),
    orders: new OrderService(),
    inventory: new InventoryService(),
  };
}
