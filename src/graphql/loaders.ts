import DataLoader from 'dataloader';
import { type FieldNode, type GraphQLResolveInfo, isNonNullType } from 'graphql';
import { ProblemError } from './errors';

/** Fetches the values of many keys at once; keys without a value are absent from the map. */
export type Batch<Value> = (keys: readonly bigint[]) => Promise<ReadonlyMap<bigint, Value>>;

/**
 * The loaders of one operation: one for each place that selects a relation, since all rows at a place need the
 * same arguments and columns. So a place costs one statement, however many rows it has. A field in a fragment
 * has one place per spread. A place is identified by graphql-js's array of field nodes; each event of a
 * subscription gets new arrays, so its loaders are freed with them.
 */
export class Loaders {
  /** Most operations load nothing. */
  private byPlace: WeakMap<readonly FieldNode[], DataLoader<bigint, unknown>> | undefined;

  /**
   * Loads the value of `key` for the field of `info`, batched with the others of its place.
   * @throws ProblemError `NOT_FOUND` if there is none and the field is non-null.
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
        // Batching only: a value cached for one root field of a mutation would be stale in the next.
        { cache: false },
      );
      this.byPlace.set(place, loader);
    }
    return loader.load(key) as Promise<Value | undefined>;
  }
}

/** Foreign keys hold, so the value existed when the row that refers to it was read. */
function missing({ returnType, fieldName }: GraphQLResolveInfo): ProblemError | undefined {
  if (!isNonNullType(returnType)) return undefined;
  return new ProblemError('NOT_FOUND', `The ${fieldName} has been deleted in the meantime.`);
}
