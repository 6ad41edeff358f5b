import DataLoader from 'dataloader';
import type { FieldSelection } from '../database/reading/selection';
import { ProblemError } from '../errors/errors';

/** Fetches the values of many keys at once; keys without a value are absent from the map. */
export type Batch<Value, Key = bigint> = (keys: readonly Key[]) => Promise<ReadonlyMap<Key, Value>>;

/**
 * The data loaders of one operation. There is a loader for each selection of a relation. All parent rows of a selection need
 * the same arguments and columns, so one statement reads the related rows of all parent rows.
 */
export class Loaders {
  private readonly byPlace = new Map<FieldSelection, DataLoader<unknown, unknown>>();

  /** @param cache whether loaded values are reused. In a mutation, reused values could be stale in the next root field. */
  constructor(private readonly cache = false) {}

  /**
   * Loads the value of `key` in one batch with the other keys of the same selection.
   * @param place the selection.
   * @param required the name of the value for the error message. Set only if the value must exist.
   * @throws ProblemError `NOT_FOUND` if a required value does not exist.
   */
  load<Value, Key = bigint>(
    place: FieldSelection,
    key: Key,
    batch: Batch<Value, Key>,
    required?: string,
  ): Promise<Value | undefined> {
    let loader = this.byPlace.get(place);
    if (!loader) {
      loader = new DataLoader(
        async (keys) => {
          const values = await batch([...new Set(keys as Key[])]);
          return keys.map((each) => values.get(each as Key) ?? (required ? missing(required) : undefined));
        },
        { cache: this.cache },
      );
      this.byPlace.set(place, loader);
    }
    return loader.load(key) as Promise<Value | undefined>;
  }
}

/** The error for a missing value. A foreign key guarantees that the value existed when the referring row was read. */
function missing(name: string): ProblemError {
  return new ProblemError('NOT_FOUND', `The ${name} has been deleted in the meantime.`);
}
