import { jsonOf, type Shape } from './row-json';
import type { Table } from './tables';

/**
 * The requested fields of each row, by name; for relations, the requested fields of the related row. Names that are
 * neither columns nor relations are ignored.
 */
export interface Fields extends ReadonlyMap<string, Fields> {
  /** The JSON to serialise the row as, if the requester can use that in place of fields. */
  readonly shape?: Shape;
}

/** How a selection is read from a table: the columns, the joins, and how a joined row becomes a row of the table. */
export interface Projection {
  readonly columns: string;
  readonly from: string;
  /** Whether rows are returned as JSON. */
  readonly isSpelled: boolean;
  /** Moves joined columns to their place: `category.name` under `category`. Modifies and returns `rows`. */
  shape<Row>(rows: Row[]): Row[];
}

/** Fields are the same objects on every execution of a document, so projections are cached by them. */
const projections = new WeakMap<Fields, Map<string, Projection>>();
const EVERYTHING: Fields = new Map();
const NOTHING: Fields = new Map();

/**
 * Reads `fields` (all columns if undefined), plus the id and `needed`. A relation to one other row is joined, with its
 * own columns only; anything nested deeper is left to loaders.
 */
export function projectionOf<Row>(
  table: Table<Row>,
  fields: Fields | undefined,
  ...needed: (string | undefined)[]
): Projection {
  const key = `${table.name} ${needed.join(' ')}`;
  let known = projections.get(fields ?? EVERYTHING);
  if (!known) {
    known = new Map();
    projections.set(fields ?? EVERYTHING, known);
  }
  let projection = known.get(key);
  if (!projection) {
    projection = project(table, fields, new Set(needed));
    known.set(key, projection);
  }
  return projection;
}

function project<Row>(
  table: Table<Row>,
  fields: Fields | undefined,
  needed: ReadonlySet<string | undefined>,
): Projection {
  const json = fields?.shape && jsonOf(table, fields.shape);
  if (json) {
    const columns = namesOf(table, NOTHING, needed).map((name) => `${table.columns[name]} as "${name}"`);
    return {
      columns: [...columns, `${json.text} as "json"`].join(', '),
      from: fromOf(table, json.relations),
      isSpelled: true,
      shape: (rows) => rows,
    };
  }
  const joined = Object.entries(table.relations).filter(([name]) => fields?.has(name));
  const columns = namesOf(table, fields, needed).map((name) => `${table.columns[name]} as "${name}"`);
  const nests = joined.map(([name, relation]) => {
    const other = relation.table();
    const inner = namesOf(other, fields?.get(name), new Set());
    columns.push(...inner.map((field) => `${other.columns[field]} as "${name}.${field}"`));
    return nest(name, other.idField, inner);
  });
  return {
    columns: columns.join(', '),
    from: fromOf(
      table,
      joined.map(([name]) => name),
    ),
    isSpelled: false,
    shape: (rows) => {
      if (nests.length)
        for (const row of rows) for (const each of nests) each(row as Record<string, unknown>);
      return rows;
    },
  };
}

function fromOf<Row>(table: Table<Row>, relations: readonly string[]): string {
  return [table.from, ...relations.map((name) => table.relations[name]?.join)].filter(Boolean).join(' ');
}

/** Collects `name.field` columns into an object under `name`: null if the joined row does not exist. */
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

/** The columns to read: the requested ones, the id, the keys of relations, and `needed`. */
function namesOf<Row>(
  table: Table<Row>,
  fields: Fields | undefined,
  needed: ReadonlySet<string | undefined>,
): string[] {
  const names = Object.keys(table.columns);
  if (!fields) return names;
  const keys = Object.entries(table.relations).map(([name, { field }]) =>
    fields.has(name) ? field : undefined,
  );
  return names.filter(
    (name) => fields.has(name) || name === table.idField || needed.has(name) || keys.includes(name),
  );
}
