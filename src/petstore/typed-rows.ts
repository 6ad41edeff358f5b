import type { Session } from '../database/database';
import type { Selection } from '../database/reading/selection';
import type { TypedRow } from './node';
import type { NodeType } from './node-id';

/** Finds rows of one type, by id. */
interface Finder {
  find(session: Session, ids: readonly bigint[], selection: Selection): Promise<ReadonlyMap<bigint, object>>;
}

/** What names a row among those of all types. */
export interface RowReference {
  readonly type: NodeType;
  readonly id: bigint;
}

export type SelectionOf = (type: NodeType) => Selection;

/** Finds rows of several types by their references. */
export class TypedRows {
  constructor(private readonly finders: Readonly<Record<NodeType, Finder>>) {}

  /** Reads each type with one statement. @returns the rows, in the order of the references; `undefined` for those that do not exist. */
  async find(
    session: Session,
    references: readonly RowReference[],
    selectionOf: SelectionOf,
  ): Promise<(TypedRow | undefined)[]> {
    const types = [...new Set(references.map(({ type }) => type))];
    const reads = types.map(async (type) => {
      const ids = references.flatMap((reference) => (reference.type === type ? reference.id : []));
      return [type, await this.finders[type].find(session, [...new Set(ids)], selectionOf(type))] as const;
    });
    const found = new Map(await Promise.all(reads));
    return references.map(({ type, id }) => {
      const row = found.get(type)?.get(id);
      return row && typed(row, type);
    });
  }
}

/** Rows are plain objects: the executor has to be told their types. */
function typed(row: object, type: NodeType): TypedRow {
  return Object.assign(row, { __typename: type });
}
