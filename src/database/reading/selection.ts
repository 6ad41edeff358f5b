import type { Filters } from './criteria';

/** What to read of one row, and in which form. */
export type RowSelection = FieldSelection | RowJsonSelection;

/** What to read of the rows of a page, and in which form. */
export type PageSelection = FieldSelection | PageJsonSelection;

/** The columns and related rows to read for each row. */
export interface FieldSelection {
  readonly kind: 'fields';
  /**
   * The selected fields by name. The value of a relation is the selection of the related row. Names that are neither a
   * column nor a relation are ignored.
   */
  readonly fields: ReadonlyMap<string, FieldSelection>;
  /** Whether all columns are needed. */
  readonly isWhole?: boolean;
}

/** A row that PostgreSQL writes as JSON. */
export interface RowJsonSelection {
  readonly kind: 'row-json';
  readonly row: RowJson;
  /** The queries of the pages inside the row. */
  readonly nested?: Nested;
}

/** A page that PostgreSQL writes as JSON. */
export interface PageJsonSelection {
  readonly kind: 'page-json';
  readonly page: PageJson;
  /** The queries of the pages inside the rows. */
  readonly nested?: Nested;
}

export const NOTHING: FieldSelection = { kind: 'fields', fields: new Map() };
/** All columns, without related rows. */
export const WHOLE_ROW: FieldSelection = { kind: 'fields', fields: new Map(), isWhole: true };

/** A boundary of a page: the sort key and id of the row just outside the page. */
export interface Bound {
  readonly key: string;
  readonly id: string;
}

/** A page with keyset pagination: the first rows between two bounds in an order, or the last rows if `backward`. */
export interface PageQuery {
  readonly filters: Filters;
  readonly order: string;
  readonly descending: boolean;
  readonly after?: Bound;
  readonly before?: Bound;
  readonly limit: number;
  readonly backward: boolean;
}

/** The query of each nested page. */
export type Nested = ReadonlyMap<PageJson, PageQuery>;

/** How values are serialized. */
export interface JsonFormat {
  readonly ids: 'string' | 'number';
  /** Whether members without a value are null or left out. */
  readonly nulls: 'null' | 'omitted';
}

/** A member that is the same in every object. */
export interface Constant {
  readonly kind: 'constant';
  readonly key: string;
  readonly constant: string;
}

/** A row as JSON, with its members in order: constants, columns, related rows, and pages of rows that refer to this row. */
export interface RowJson extends JsonFormat {
  readonly members: readonly RowMember[];
}

export type RowMember =
  | Constant
  | { readonly kind: 'column'; readonly key: string; readonly column: string }
  | { readonly kind: 'relation'; readonly key: string; readonly relation: string; readonly row: RowJson }
  | { readonly kind: 'pages'; readonly key: string; readonly pages: string; readonly page: PageJson };

/** A page as JSON, with its members in order. */
export interface PageJson {
  readonly members: readonly PageMember[];
}

export type PageMember =
  | Constant
  | { readonly kind: 'nodes'; readonly key: string; readonly row: RowJson }
  | { readonly kind: 'edges'; readonly key: string; readonly members: readonly EdgeMember[] }
  | { readonly kind: 'page-info'; readonly key: string; readonly members: readonly PageInfoMember[] }
  | { readonly kind: 'total-count'; readonly key: string }
  | { readonly kind: 'total-relation'; readonly key: string };

export type EdgeMember =
  | Constant
  | { readonly kind: 'node'; readonly key: string; readonly row: RowJson }
  | { readonly kind: 'cursor'; readonly key: string };

export type PageInfoMember =
  | Constant
  | {
      readonly kind: 'info';
      readonly key: string;
      readonly info: 'hasNextPage' | 'hasPreviousPage' | 'startCursor' | 'endCursor';
    };
