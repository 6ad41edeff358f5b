import type { Filters } from './criteria';
import type { Values } from './statement-values';
import { type Column, columnOf, type Table } from './table';

/** What pages are read for: a relation whose rows are `parent`, each with the `id` that a column of the table has. */
export interface Parents {
  /** `unnest($1::bigint[])` */
  readonly rows: string;
  readonly count: number;
  /** Without one there is one parent, which all rows have. */
  readonly column?: Column;
}

export const NO_PARENTS: Parents = { rows: '(values (0::bigint))', count: 1 };

/**
 * The parents whose rows a list reads: those that pass a filter by the same column, which then filters nothing more.
 * @param field the field that has the parent's id.
 */
export function parentsOf<Row>(
  table: Table<Row>,
  field: string,
  ids: readonly bigint[],
  filters: Filters,
  values: Values,
): [Parents, Filters] {
  const sql = columnOf(table, field);
  const column = table.columns[field];
  let some = ids;
  const others = Object.entries(filters).filter(([name, value]) => {
    const filter = table.filters[name];
    if (value == null || filter?.kind !== 'equal' || filter.column.sql !== sql) return true;
    const wanted = new Set([value].flat());
    some = some.filter((id) => wanted.has(id));
    return false;
  });
  const rows = `unnest(${values.add(some, '::bigint[]')})`;
  return [{ rows, count: Math.max(1, some.length), column }, Object.fromEntries(others)];
}
