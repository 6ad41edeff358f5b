export type ChangeKind = 'CREATED' | 'UPDATED' | 'DELETED';

/** A change to a row, without the new state of the row. Consumers that need the new state read the row. */
export interface Change<Row = object> {
  /** The kind of row that has changed, such as `pet`. Clients subscribe to a topic. */
  readonly topic: string;
  readonly kind: ChangeKind;
  readonly id: bigint;
  /**
   * The previous state of the row. After a deletion, it has all fields. After an update, it has only fields that a filter
   * may test and whose previous value is known.
   */
  readonly before?: Partial<Row>;
}

/** Called once for each committed change. Must not throw. */
export type ChangeListener = (change: Change) => void;
