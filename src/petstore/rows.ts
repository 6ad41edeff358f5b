import type { Category, Inventory, Order, Pet } from '../database/generated/client';

/** A row read as JSON carries its text; of its fields it has only those needed to find and order it. */
export interface Serialized {
  readonly $json?: string;
}

/** A pet as read. Relations are present if they were read with it. */
export type PetRow = Pet & Serialized & { category?: CategoryRow; inventory?: InventoryRow | null };
export type CategoryRow = Category & Serialized;
/** An order as read, without the units it has reserved. */
export type OrderRow = Omit<Order, 'reserved'> & Serialized & { pet?: PetRow | null };
/** Stock with its pet's status, which is stored only with the pet. */
export type InventoryRow = Inventory & Pick<Pet, 'status'> & Serialized & { pet?: PetRow };
