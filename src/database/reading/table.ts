/** A column of the model (`prisma/columns.mjs`). */
export interface Column {
  /** `pets.category_id` */
  readonly sql: string;
  /**
   * `id` is a bigint. `enum` is text that needs no escaping in JSON. A column of kind `other` can neither be written as JSON
   * nor be a sort key.
   */
  readonly kind: 'id' | 'text' | 'enum' | 'integer' | 'boolean' | 'timestamp' | 'date' | 'other';
  /** Its SQL type. */
  readonly type: string;
  readonly isNullable: boolean;
}

/**
 * The filters of a list.
 * - `ids`: the row has one of these ids.
 * - `equal`: the column has one of these values.
 * - `name`: the column contains this text, ignoring case. A text of fewer than three characters matches only at the start of
 *   the column. There must be a trigram index on `lower(column collate "default") collate "C"`.
 * - `atMost`, `atLeast`: the integer column has at most, or at least, this value. `order` is the name of the sort order by
 *   this column.
 * - `joined`: the column of a joined table (see `Table.joins`) has one of these values.
 * - `condition`: any other SQL on the column, in which `?` stands for the value. It needs no index.
 */
export type Filter =
  | { readonly kind: 'ids' }
  | { readonly kind: 'equal' | 'joined'; readonly column: Column }
  | { readonly kind: 'name'; readonly column: Column }
  | { readonly kind: 'atMost' | 'atLeast'; readonly column: Column; readonly order: string }
  | { readonly kind: 'condition'; readonly column: Column; readonly sql: string };

/** The relations, orders and filters of a table, and how it is read. */
export interface Table<Row> {
  readonly name: string;
  /** The GraphQL type of its rows. */
  readonly type: string;
  /**
   * SQL that joins tables with further columns of a row: ` join pets on …`. Each row must match exactly one row of each
   * joined table.
   */
  readonly joins?: string;
  readonly idField: string;
  /**
   * The field with the owner of a row, if rows have owners: a nullable text. The functions in `reading/` return only the rows
   * that the caller may see (`Visibility`). Prisma's models return all rows. For the lists of a user's own rows, indexes begin
   * with the owner. If many rows have owners, the lists of callers who own none need indexes with the condition that the owner
   * is null. A relation to such a table is joined with `left`.
   */
  readonly owner?: { readonly column: string };
  /** The columns by the name of their field. */
  readonly columns: Readonly<Record<string, Column>>;
  /** Additional fields, which SQL computes from columns. */
  readonly computed?: Readonly<Record<string, Computed>>;
  readonly relations: Readonly<Record<string, Relation>>;
  /** The nested pages, by name. Each page contains rows of another table that refer to a row of this table. */
  readonly pages?: Readonly<Record<string, Pages>>;
  readonly orders: Readonly<Record<string, SortOrder<Row>>>;
  /**
   * The filters, by name. Each combination of `equal` filters needs one index for each sort order. The index contains the
   * columns of the filters, in the sequence of this object, and then the columns of the sort order. An index can be omitted
   * if few rows match a condition on its first column.
   */
  readonly filters: Readonly<Record<string, Filter>>;
  idOf(row: Row): bigint;
}

/** A field that SQL computes from columns of its row. */
export interface Computed extends Column {
  /** Computes the same value from the id of the row. Without this function, a row is read only to compute the field. */
  of?(id: bigint): unknown;
  /** The value for a row that was deleted before the field is read; no value by default. */
  readonly ofGone?: unknown;
}

/** Rows of another table that refer to a row of this table by its id. */
export interface Pages {
  /** The field of the other table that contains the id of the row of this table. */
  readonly field: string;
  table(): Table<object>;
}

/** A relation to at most one row of another table, by that row's id. */
export interface Relation {
  /** The field with the related row's id. */
  readonly field: string;
  /**
   * How the related row is joined. With `left`, the related row may be missing. With `included`, `Table.joins` already joins
   * it.
   */
  readonly join: 'inner' | 'left' | 'included';
  table(): Table<object>;
}

/** A sort order of a table: its sort expression, and a function that returns the sort key of a row as text for a cursor. */
interface SortOrder<Row> {
  readonly expression: string;
  readonly column: Column;
  /** The field of the sort key. Every page in this order reads this field. */
  readonly field: string;
  keyOf(row: Row): string;
}

/**
 * Creates sort orders. `fields` maps the name of each order to the field that it sorts by. A nullable field must be a time,
 * since null sorts as `infinity`.
 */
export function sortOrders<Row>(
  columns: Readonly<Record<string, Column>>,
  fields: Readonly<Record<string, keyof Row & string>>,
): Readonly<Record<string, SortOrder<Row>>> {
  const orders = Object.entries(fields).map(([name, field]) => [name, sortOrder<Row>(columns, field)] as const);
  return Object.fromEntries(orders);
}

function sortOrder<Row>(columns: Readonly<Record<string, Column>>, field: keyof Row & string): SortOrder<Row> {
  const column = columns[field];
  const isTime = column?.kind === 'timestamp' || column?.kind === 'date';
  if (!column || column.kind === 'other' || (column.isNullable && !isTime))
    throw new Error(`${field} cannot be a sort key`);
  const expression = column.isNullable ? `coalesce(${column.sql}, 'infinity')` : column.sql;
  return { expression, column, field, keyOf: (row) => keyOf(row[field]) };
}

function keyOf(value: unknown): string {
  if (value === null) return 'infinity';
  return value instanceof Date ? value.toISOString() : String(value);
}

/** A text has up to 2,000 code points. A code point takes up to four bytes, or six if JSON escapes it. */
const MOST_TEXT = 12_000;
const MOST_OTHER = 64;

/** Maximum number of bytes of a value of a column. */
export function mostBytesOf({ kind }: Column): number {
  return kind === 'text' ? MOST_TEXT : MOST_OTHER;
}

export function orderOf<Row>(table: Table<Row>, name: string): SortOrder<Row> {
  const order = table.orders[name];
  if (!order) throw new Error(`${table.name} has no order ${name}`);
  return order;
}

/** The name of the sort order by id. */
export function idOrderOf<Row>({ name, orders, idField }: Table<Row>): string {
  const order = Object.keys(orders).find((each) => orders[each]?.field === idField);
  if (!order) throw new Error(`${name} has no order by ${idField}`);
  return order;
}

/** An identifier that is unique across all tables: the base64url of a text such as `Pet:7`. */
export function encodeNodeId(type: string, id: bigint): string {
  return Buffer.from(`${type}:${id}`).toString('base64url');
}

/** A computed field with the row's {@link encodeNodeId}. */
export function nodeIdOf(type: string, { sql }: Column): Readonly<Record<'nodeId', Computed>> {
  const text = `rtrim(encode(convert_to('${type}:' || ${sql}, 'UTF8'), 'base64'), '=')`;
  return { nodeId: { sql: text, kind: 'enum', type: 'text', isNullable: false, of: (id) => encodeNodeId(type, id) } };
}

/**
 * A computed field with the version of a row: a hash of all its columns. Every write moves the time of the last update of a row,
 * so no two states of the row have the same version.
 */
export function versionOf(table: string): Readonly<Record<'version', Computed>> {
  return {
    version: {
      sql: `hashtextextended(${table}::text, 0)::text`,
      kind: 'enum',
      type: 'text',
      isNullable: false,
      // Instances of the previous release publish deletions without the `version` of the row, which can no longer be read.
      ofGone: '',
    },
  };
}

/** The computed fields that must be read with their row, since they cannot be computed from its id. */
export function readWithRow({ computed = {} }: Pick<Table<never>, 'computed'>): string[] {
  return Object.keys(computed).filter((name) => !computed[name]?.of);
}

/** The SQL of a field's column. */
export function columnOf({ name, columns }: Pick<Table<never>, 'name' | 'columns'>, field: string): string {
  const column = columns[field];
  if (!column) throw new Error(`${name} has no column ${field}`);
  return column.sql;
}

/** The column of a field, or the SQL that computes it. */
export function columnOrComputed<Row>({ name, columns, computed }: Table<Row>, field: string): Column {
  const column = columns[field] ?? computed?.[field];
  if (!column) throw new Error(`${name} has no column ${field}`);
  return column;
}
