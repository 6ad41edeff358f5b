import type { Read } from './bounded-rows';
import { areIntervals, conditionsOf, criteriaOf, type Filters, where } from './criteria';
import { boundsOf, intervalsOf, keysOf, orderBy, readIntervals } from './intervals';
import type { Projection } from './projection';
import type { PageQuery } from './selection';
import type { Values } from './statement-values';
import { type Column, columnOf, type Table } from './table';

/** Maximum number of rows of a read that other statements may wait for. */
export const SHORT = 500;

/** The rows that pages belong to: a relation `parent(id)`, whose ids a column of the table refers to. */
export interface Parents {
  /** `unnest($1::bigint[])` */
  readonly rows: string;
  readonly count: number;
  readonly column: Column;
}

/**
 * The parents of a list's rows: those that pass a filter by the same column, which is then left out of the filters.
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
  const column = table.columns[field] as Column;
  let some = ids;
  const others = Object.entries(filters).filter(([name, value]) => {
    const filter = table.filters[name];
    if (value == null || filter?.kind !== 'equal' || filter.column.sql !== sql) return true;
    const wanted = new Set([value].flat());
    some = some.filter((id) => wanted.has(id));
    return false;
  });
  const rows = `unnest(${values.add(some, 'bigint[]')})`;
  return [{ rows, count: Math.max(1, some.length), column }, Object.fromEntries(others)];
}

/** Whether a page is read by intervals of an index that has its order: then it can also be read for each of many rows. */
export function isReadInOrder<Row>(table: Table<Row>, { filters, order }: PageQuery): boolean {
  return areIntervals(criteriaOf(table, filters), order);
}

/** Reads a page: if there are parents, of the rows that refer to `parent.id`, which is in scope. */
export function pageStatement<Row>(
  table: Table<Row>,
  { columns, joins }: Pick<Projection, 'columns' | 'joins'>,
  page: PageQuery,
  values: Values,
  parents?: Parents,
): Read {
  const { order, descending, backward, after, before, limit } = page;
  const criteria = criteriaOf(table, page.filters);
  const { ids, isPlannedByValues } = criteria;
  const [low, high] = descending ? [before, after] : [after, before];
  const slice = { order, low, high, limit, isReverse: descending !== backward };
  const { name } = table;
  const isInOrder = areIntervals(criteria, order);
  const isMerged = isInOrder && intervalsOf(criteria) > 1;
  const isFlat = !joins && !isMerged;

  const selected = isFlat ? columns : `${name}.*`;
  const sorted = orderBy(keysOf(table, order).keys, slice.isReverse);
  let rows: string;
  if (isInOrder) rows = readIntervals(table, criteria, slice, selected, values, parents?.column);
  else {
    const ofParent = parents ? [`${parents.column.sql} = parent.id`] : [];
    const conditions = [...ofParent, ...conditionsOf(criteria, values), ...boundsOf(table, slice, values)];
    const from = `${name}${criteria.isJoined ? table.joins : ''}`;
    rows = `select ${selected} from ${from}${where(conditions)}${sorted} limit ${limit}`;
  }
  const most = isInOrder ? limit * intervalsOf(criteria) : (ids ?? Infinity);
  return {
    // A join may lose the order.
    rows: isFlat ? rows : `select ${columns} from (${rows}) as ${name}${joins}${sorted}`,
    isShort: !isPlannedByValues && most * (parents?.count ?? 1) <= SHORT,
    isPlannedByValues,
  };
}
