import DataLoader from 'dataloader';
import type { FieldNode, GraphQLResolveInfo } from 'graphql';

/** Fetches what belongs to many keys at once; what is not there is missing from the map. */
export type Batch<Value> = (keys: readonly bigint[]) => Promise<ReadonlyMap<bigint, Value>>;

/**
 * The loaders of one request: one for each relation field of the document, since all rows under one field ask for the
 * same arguments and columns. So a field costs one statement, however many rows it stands under.
 */
export class Loaders {
  /** Most operations load nothing. */
  private byField: Map<FieldNode | undefined, DataLoader<bigint, unknown>> | undefined;

  /** Loads the value of `key` for the field of `info`, together with those of its siblings. */
  load<Value>(info: GraphQLResolveInfo, key: bigint, batch: Batch<Value>): Promise<Value | undefined> {
    const field = info.fieldNodes[0];
    this.byField ??= new Map();
    let loader = this.byField.get(field);
    if (!loader) {
      loader = new DataLoader(
        async (keys: readonly bigint[]) => {
          const values = await batch([...new Set(keys)]);
          return keys.map((each) => values.get(each));
        },
        // Batches only: a value kept from before a mutation's first field would be stale in its second.
        { cache: false },
      );
      this.byField.set(field, loader);
    }
    return loader.load(key) as Promise<Value | undefined>;
  }
}
