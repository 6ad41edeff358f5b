import type { RowJson } from './row-json';

/** What is read of each row. */
export interface Selection {
  /** By name, with what is read of related rows. Names that are neither columns nor relations are ignored. */
  readonly fields: ReadonlyMap<string, Selection>;
  /** What to serialize each row as, if its reader can use that in place of fields. */
  readonly json?: RowJson;
  /** Of a page: whether its rows are read only as one JSON array. */
  readonly isList?: boolean;
  /** Of a page: whether its bounds are read. */
  readonly hasPageInfo?: boolean;
}

export const NOTHING: Selection = { fields: new Map() };
