import type { InventoryRow, OrderRow, PetRow } from './tables';

/** What can be listened to, with the row that it is about. */
export interface Topics {
  pet: PetRow;
  order: OrderRow;
  inventory: InventoryRow;
}

export type Topic = keyof Topics;

export type ChangeKind = 'CREATED' | 'UPDATED' | 'DELETED';

/** That a row has changed. What it is now, whoever wants to know reads. */
export interface Change<T extends Topic = Topic> {
  readonly topic: T;
  readonly kind: ChangeKind;
  /** Of an inventory entry that of its pet. */
  readonly id: bigint;
  /** As it was: whole where it was deleted; of an update what a filter may ask for, as far as it is known. */
  readonly before?: Partial<Topics[T]>;
}

/** Hears of each change once it is committed. Must not throw. */
export type ChangeListener = (change: Change) => void;

/** Those who listen to the changes that are made through one open database. */
export class ChangeListeners {
  private readonly listeners = new Set<ChangeListener>();

  /** @returns what ends it. */
  add(listener: ChangeListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  tell(change: Change): void {
    for (const listener of this.listeners) listener(change);
  }
}
