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

/** How rows are serialized. */
export interface JsonFormat {
  readonly ids: 'string' | 'number';
  /** Whether members without a value are null or left out. */
  readonly nulls: 'null' | 'omitted';
}

/** A row as JSON, with its members in order. */
export interface RowJson extends JsonFormat {
  readonly members: readonly Member[];
}

/** A member and its key: a constant, a column, or a relation to one other row. */
export type Member =
  | { readonly key: string; readonly constant: string }
  | { readonly key: string; readonly field: string; readonly json?: RowJson };

/** A row read as JSON carries its text; of its fields it has only those needed to find and order it. */
export interface Serialized {
  readonly $json?: string;
}
