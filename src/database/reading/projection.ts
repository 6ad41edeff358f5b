import { type FieldSelection, WHOLE_ROW } from './selection';
import type { StatementScope } from './statement-scope';
import { columnOrComputed, mostBytesOf, readWithRow, type Table } from './table';

/** How a selection is read from a table: the columns, the joins, and a function that nests the columns of joined rows. */
export interface Projection {
  readonly columns: string;
  /** The joins: ` join …`, or an empty text. They do not change the number of rows. */
  readonly joins: string;
  /** The FROM clause: the rows of the table that the session sees, with the joins. */
  readonly from: string;
  /** Maximum size of a row in bytes. */
  readonly mostBytes: number;
  /** Nests joined columns: `category.name` becomes `name` of an object `category`. Modifies and returns `rows`. */
  shape<Row>(rows: Row[]): Row[];
}

/** A cache of projections by selection. All runs of a document use the same selection objects. */
const projections = new WeakMap<FieldSelection, Map<string, Projection>>();

/**
 * Returns the projection for a selection. Without a selection, it has all columns. It always includes the id and the `needed`
 * fields. Related rows in the selection are joined. The related rows of these rows are not joined; loaders read them.
 */
export function projectionOf<Row>(
  table: Table<Row>,
  selection = WHOLE_ROW,
  scope: StatementScope,
  ...needed: readonly string[]
): Projection {
  // Two GraphQL types may use the same table, with different columns or a different owner.
  const key = `${table.type} ${scope.visibilityKind} ${needed.join(' ')}`;
  let known = projections.get(selection);
  if (!known) {
    known = new Map();
    projections.set(selection, known);
  }
  let projection = known.get(key);
  if (!projection) {
    projection = project(table, selection, scope, needed);
    known.set(key, projection);
  }
  return projection;
}

function project<Row>(
  table: Table<Row>,
  selection: FieldSelection,
  scope: StatementScope,
  needed: readonly string[],
): Projection {
  const joined = Object.keys(table.relations).filter((name) => selection.fields.has(name));
  const own = fieldsOf(table, selection, needed);
  const columns = columnsOf(table, own);
  let mostBytes = bytesOf(table, own);
  const nests = joined.map((name) => {
    const other = table.relations[name]?.table() as Table<object>;
    const fields = fieldsOf(other, selection.fields.get(name));
    columns.push(...columnsOf(other, fields, `${name}.`));
    mostBytes += bytesOf(other, fields);
    return nest(name, other.idField, fields);
  });
  const joins = scope.joins(table, joined);
  return {
    columns: columns.join(', '),
    joins,
    from: scope.from(table) + joins,
    mostBytes,
    shape: (rows) => {
      if (nests.length) for (const row of rows) for (const each of nests) each(row as Record<string, unknown>);
      return rows;
    },
  };
}

function bytesOf<Row>(table: Table<Row>, fields: readonly string[]): number {
  return fields.reduce((sum, field) => sum + mostBytesOf(columnOrComputed(table, field)), 0);
}

function columnsOf<Row>(table: Table<Row>, fields: readonly string[], prefix = ''): string[] {
  return fields.map((field) => `${columnOrComputed(table, field).sql} as "${prefix}${field}"`);
}

/** Collects the `name.field` columns of a row into an object `row[name]`, which is null if the joined row does not exist. */
function nest(name: string, idField: string, fields: readonly string[]) {
  const columns = fields.map((field) => [field, `${name}.${field}`] as const);
  return (row: Record<string, unknown>) => {
    if (row[`${name}.${idField}`] === null) {
      row[name] = null;
      return;
    }
    const inner: Record<string, unknown> = {};
    for (const [field, column] of columns) inner[field] = row[column];
    row[name] = inner;
  };
}

/**
 * The fields to read: the selected fields, the id, the foreign keys of selected relations, and the `needed` fields. A computed
 * field is read only if it cannot be computed from the id.
 */
function fieldsOf<Row>(
  { columns, computed, relations, idField }: Table<Row>,
  { fields, isWhole }: FieldSelection = WHOLE_ROW,
  needed: readonly string[] = [],
): string[] {
  const all = Object.keys(columns);
  const others = readWithRow({ computed });
  if (isWhole) return [...all, ...others];
  const read = others.filter((name) => fields.has(name));
  const selected = Object.entries(relations).filter(([name]) => fields.has(name));
  const keys = new Set([idField, ...needed, ...selected.map(([, { field }]) => field)]);
  return [...all.filter((field) => fields.has(field) || keys.has(field)), ...read];
}
