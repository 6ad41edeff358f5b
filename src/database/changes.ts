export type ChangeKind = 'CREATED' | 'UPDATED' | 'DELETED';

/** A change to a row. Its new state is not included; consumers read it if they need it. */
export interface Change<Row = object> {
  /** The kind of row that has changed, such as `pet`. Clients subscribe to a topic. */
  readonly topic: string;
  readonly kind: ChangeKind;
  readonly id: bigint;
  /**
   * The previous state of the row. For a deletion it is complete. For an update it has only known fields that a filter may
   * test.
   */
  readonly before?: Partial<Row>;
}

/** Called for each change once it is committed. Must not throw. */
export type ChangeListener = (change: Change) => void;
