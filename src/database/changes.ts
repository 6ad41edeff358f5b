import type { InventoryRow, OrderRow, PetRow } from '../petstore/rows';

/** The topics that can be subscribed to, and the row type of each. */
export interface Topics {
  pet: PetRow;
  order: OrderRow;
  inventory: InventoryRow;
}

export type Topic = keyof Topics;

export type ChangeKind = 'CREATED' | 'UPDATED' | 'DELETED';

/** A change to a row. Its new state is not included; consumers read it if they need it. */
export interface Change<T extends Topic = Topic> {
  readonly topic: T;
  readonly kind: ChangeKind;
  /** For an inventory entry, its pet's id. */
  readonly id: bigint;
  /** The previous state: complete for a deletion; for an update the known fields that a filter may test. */
  readonly before?: Partial<Topics[T]>;
}

/** Called for each change once it is committed. Must not throw. */
export type ChangeListener = (change: Change) => void;
