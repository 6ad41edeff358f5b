import { jsonOf } from './row-json';
import { NOTHING, type Selection } from './selection';
import type { Table } from './tables';

/** How a selection is read from a table: the columns, the joins, and how a joined row becomes a row of the table. */
export interface Projection {
  readonly columns: string;
  readonly from: string;
  /** Whether rows are returned as JSON. */
  readonly isJson: boolean;
  /** Moves joined columns to their place: `category.name` under `category`. Modifies and returns `rows`. */
  shape<Row>(rows: Row[]): Row[];
}

/** A document has the same selections in every run, so projections are cached by them. */
const projections = new WeakMap<Selection, Map<string, Projection>>();
const EVERYTHING: Selection = { fields: new Map() };

/**
 * Reads the selection (all columns if undefined), plus the id and `needed`. A relation to one other row is joined, with its
 * own columns only; anything nested deeper is left to loaders.
 */
export function projectionOf<Row>(
  table: Table<Row>,
  selection: Selection | undefined,
  ...needed: (string | undefined)[]
): Projection {
  const key = `${table.name} ${needed.join(' ')}`;
  let known = projections.get(selection ?? EVERYTHING);
  if (!known) {
    known = new Map();
    projections.set(selection ?? EVERYTHING, known);
  }
  let projection = known.get(key);
  if (!projection) {
    projection = project(table, selection, new Set(needed));
    known.set(key, projection);
  }
  return projection;
}

function project<Row>(
  table: Table<Row>,
  selection: Selection | undefined,
  needed: ReadonlySet<string | undefined>,
): Projection {
  const json = selection?.json && jsonOf(table, selection.json);
  if (json) {
    const columns = namesOf(table, NOTHING, needed).map((name) => `${table.columns[name]} as "${name}"`);
    return {
      columns: [...columns, `${json.text} as "$json"`].join(', '),
      from: fromOf(table, json.relations),
      isJson: true,
      shape: (rows) => rows,
    };
  }
  const joined = Object.entries(table.relations).filter(([name]) => selection?.fields.has(name));
  const columns = namesOf(table, selection, needed).map((name) => `${table.columns[name]} as "${name}"`);
  const nests = joined.map(([name, relation]) => {
    const other = relation.table();
    const inner = namesOf(other, selection?.fields.get(name), new Set());
    columns.push(...inner.map((field) => `${other.columns[field]} as "${name}.${field}"`));
    return nest(name, other.idField, inner);
  });
  return {
    columns: columns.join(', '),
    from: fromOf(
      table,
      joined.map(([name]) => name),
    ),
    isJson: false,
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
  selection: Selection | undefined,
  needed: ReadonlySet<string | undefined>,
): string[] {
  const names = Object.keys(table.columns);
  if (!selection) return names;
  const { fields } = selection;
  const keys = Object.entries(table.relations).map(([name, { field }]) =>
    fields.has(name) ? field : undefined,
  );
  return names.filter(
    (name) => fields.has(name) || name === table.idField || needed.has(name) || keys.includes(name),
  );
}
