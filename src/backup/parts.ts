/** What begins a backup. */
export interface Header {
  readonly format: 'petstore-backup';
  readonly version: 1;
  /** ISO 8601 */
  readonly createdAt: string;
  /** The database that it was read from: `embedded PostgreSQL in ./data`. */
  readonly source: string;
  /** The names of the migrations that were applied there. */
  readonly migrations: readonly string[];
  /** In an order in which they can be filled: what others refer to comes first. */
  readonly tables: readonly Table[];
  /** About how many rows there are, for showing progress. */
  readonly estimate: number;
}

export interface Table {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
}

/** What ends a backup. One without it is not complete. */
export interface Footer {
  /** By the names of the tables. */
  readonly sums: Record<string, Sum>;
  /** The last id that each sequence has given out. */
  readonly sequences: Record<string, string>;
}

/** How many rows a table has, and a checksum of them whatever their order. */
export interface Sum {
  readonly rows: number;
  /** 16 hexadecimal digits. */
  readonly checksum: string;
}

/** A part of a backup, in this order: the header, rows of one table after the other, the footer. */
export type Part =
  | { readonly header: Header }
  /** Each row as a JSON array of the texts of its columns, as PostgreSQL writes them. */
  | { readonly table: string; readonly rows: readonly string[] }
  | { readonly footer: Footer };

/** The most rows of a part, and about how many bytes they have: so many are held at a time. */
export const BATCH = { rows: 5_000, bytes: 2_000_000 };
