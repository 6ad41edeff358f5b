/** A column, as the model has it (`prisma/columns.mjs`). */
export interface Column {
  /** `pets.category_id` */
  readonly sql: string;
  /** `id`: a bigint. `enum`: text that needs no escaping in JSON. `other`: read only as a column, by its field. */
  readonly kind: 'id' | 'text' | 'enum' | 'integer' | 'boolean' | 'timestamp' | 'date' | 'other';
  /** Its SQL type. */
  readonly type: string;
  readonly isNullable: boolean;
}

/** How a table is read: the only place that defines its relations, orders and filters. */
export interface Table<Row> {
  readonly name: string;
  readonly from: string;
  readonly idField: string;
  /** By the field of a row that each is. */
  readonly columns: Readonly<Record<string, Column>>;
  /** What rows that are read as JSON have besides: text that follows from columns, by the field that it is. */
  readonly computed?: Readonly<Record<string, Column>>;
  readonly relations: Readonly<Record<string, Relation>>;
  readonly orders: Readonly<Record<string, SortOrder<Row>>>;
  /** Conditions by filter name; `?` stands for the value. */
  readonly filters: Readonly<Record<string, string>>;
  idOf(row: Row): bigint;
}

/** A relation to at most one row of another table, by that row's id. */
export interface Relation {
  /** The field with the related row's id. */
  readonly field: string;
  /** How it is joined; `included`: the table's `from` already has it. A left join may find no row. */
  readonly join: 'inner' | 'left' | 'included';
  table(): Table<object>;
}

/** A sort order of a table: the expression it sorts by, and a row's key as text for a cursor. */
export interface SortOrder<Row> {
  readonly expression: string;
  readonly column: Column;
  /** The field it sorts by; it is read with the page. */
  readonly field: string;
  keyOf(row: Row): string;
}

/** Sort orders by the fields of these names. Of nullable columns only times can be sorted by: no value comes last. */
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
    throw new Error(`${field} cannot be sorted by`);
  const expression = column.isNullable ? `coalesce(${column.sql}, 'infinity')` : column.sql;
  return { expression, column, field, keyOf: (row) => keyOf(row[field]) };
}

function keyOf(value: unknown): string {
  if (value === null) return 'infinity';
  return value instanceof Date ? value.toISOString() : String(value);
}

/** The condition that a column has one of the values of an array. */
export function oneOf({ sql, kind, type }: Column): string {
  return kind === 'enum' ? `${sql} = any(?::text[]::${type}[])` : `${sql} = any(?::${type}[])`;
}

/** The condition that a text matches a LIKE pattern, whatever the case of its letters. */
export function matches({ sql }: Column): string {
  return `(${sql} collate "default") ilike ?`;
}

/** The identifier of a row that is unique across types, as `schema/node-id.ts` has it: base64url of `Pet:7`. */
export function nodeIdOf(type: string, { sql }: Column): Readonly<Record<'nodeId', Column>> {
  const text = `rtrim(encode(convert_to('${type}:' || ${sql}, 'UTF8'), 'base64'), '=')`;
  return { nodeId: { sql: text, kind: 'enum', type: 'text', isNullable: false } };
}

/** The SQL of a field's column. */
export function columnOf<Row>(table: Table<Row>, field: string): string {
  const column = table.columns[field];
  if (!column) throw new Error(`${table.name} has no column ${field}`);
  return column.sql;
}

/** The SQL that a table, with these relations, is read from. */
export function fromOf<Row>(table: Table<Row>, relations: Iterable<string>): string {
  const joins = Array.from(relations, (name) => {
    const relation = table.relations[name];
    if (!relation || relation.join === 'included') return '';
    const { field, join } = relation;
    const other = relation.table();
    return ` ${join} join ${other.name} on ${columnOf(other, other.idField)} = ${columnOf(table, field)}`;
  });
  return table.from + joins.join('');
}
