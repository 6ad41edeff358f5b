import DataLoader from 'dataloader';
import { type FieldNode, type GraphQLResolveInfo, isNonNullType } from 'graphql';
import { ProblemError } from './errors';

/** Fetches what belongs to many keys at once; what is not there is missing from the map. */
export type Batch<Value> = (keys: readonly bigint[]) => Promise<ReadonlyMap<bigint, Value>>;

/**
 * The loaders of one operation: one for each place at which a relation is selected, since all rows at one place need the
 * same arguments and columns. So a place costs one statement, however many rows it has. A field of a fragment is at as many
 * places as spread the fragment; graphql-js has an array of nodes for each place. It makes new arrays for each event of a
 * subscription, and their loaders go with them.
 */
export class Loaders {
  /** Most operations load nothing. */
  private byPlace: WeakMap<readonly FieldNode[], DataLoader<bigint, unknown>> | undefined;

  /**
   * Loads the value of `key` for the field of `info`, together with those of its place.
   * @throws ProblemError `NOT_FOUND` where there is none, and the field must have one.
   */
  load<Value>(info: GraphQLResolveInfo, key: bigint, batch: Batch<Value>): Promise<Value | undefined> {
    const place = info.fieldNodes;
    this.byPlace ??= new WeakMap();
    let loader = this.byPlace.get(place);
    if (!loader) {
      loader = new DataLoader(
        async (keys: readonly bigint[]) => {
          const values = await batch([...new Set(keys)]);
          return keys.map((each) => values.get(each) ?? missing(info));
        },
        // Batches only: a value kept from before a mutation's first field would be stale in its second.
        { cache: false },
      );
      this.byPlace.set(place, loader);
    }
    return loader.load(key) as Promise<Value | undefined>;
  }
}

/** References hold, so what must be there was there when the row that refers to it was read. */
function missing({ returnType, fieldName }: GraphQLResolveInfo): ProblemError | undefined {
  if (!isNonNullType(returnType)) return undefined;
  return new ProblemError('NOT_FOUND', `The ${fieldName} has been deleted meanwhile.`);
}
