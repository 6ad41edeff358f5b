import { CategoryService } from './categories/category-service';
import { InventoryService } from './inventory/inventory-service';
import { OrderService } from './orders/order-service';
import { PetService } from './pets/pet-service';

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
