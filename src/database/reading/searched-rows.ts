import type { Criteria } from './criteria';
import type { Parents } from './parents';
import { equalTo, walkedTests } from './row-tests';
import { edgesOf, keysOf, orderBy, type Slice, testsOf, where } from './slices';
import type { Values } from './statement-values';
import { columnOf, type Table } from './table';
import { sliceOf, type Walk } from './walk';

/** All rows of the parents that match and pass `more` tests, as `parent, id`, and `columns` with a comma before them. */
export function searchedRows<Row>(
  table: Table<Row>,
  criteria: Criteria,
  values: Values,
  parents: Parents,
  more: readonly string[] = [],
  columns = '',
): string {
  const { contained, within, ids, tests } = criteria;
  const rows = (of: Criteria, how: typeof foundRows<Row>) => how(table, of, values, parents, more, columns);
  if (contained) return `${rows(contained.beginning, rowsOfRanges)} union all ${rows(contained.elsewhere, foundRows)}`;
  return rows(criteria, within && !ids && !tests.length ? rowsOfRanges : foundRows);
}

/** Those that ranges of an order have, of which the tests then leave some. */
function rowsOfRanges<Row>(
  table: Table<Row>,
  criteria: Criteria,
  values: Values,
  { rows, column }: Parents,
  more: readonly string[],
  columns: string,
): string {
  const { name, joins = '' } = table;
  const { order } = criteria.within as { order: string };
  const ranged = sliceOf(table, criteria, { order }, `${name}.*`, values, column);
  const tests = [...walkedTests(criteria, order, values), ...more];
  return `select parent.id as parent, ${columnOf(table, table.idField)} as id${columns}
from ${rows} as parent(id) cross join lateral (${ranged}) as ${name}${criteria.tests.length ? joins : ''}${where(tests)}`;
}

/**
 * Those that tests find. What finds few rows comes first, behind `offset 0`: the planner, which does not know the values,
 * would choose otherwise; only those of a join it has to be left, with the values.
 */
function foundRows<Row>(
  table: Table<Row>,
  criteria: Criteria,
  values: Values,
  { rows, column }: Parents,
  more: readonly string[],
  columns: string,
): string {
  const { name, joins } = table;
  const searched = criteria.tests.map(({ searched }) => searched(values));
  const first = criteria.ids ? [criteria.ids.test(values)] : joins ? [] : searched;
  const others = [
    ...(column ? [`${column.sql} in (select parent.id from ${rows} as parent(id))`] : []),
    ...equalTo(criteria, values),
    ...(criteria.within ? [criteria.within.test(values)] : []),
    ...(first === searched ? [] : searched),
    ...more,
  ];
  const from = first.length ? `(select * from ${name}${where(first)} offset 0) as ${name}` : name;
  const id = columnOf(table, table.idField);
  return `select ${column?.sql ?? '0::bigint'} as parent, ${id} as id${columns} from ${from}${joins ?? ''}${where(others)}`;
}

/** All the rows that match, as `parent, id, number`: numbered in the order of the page for each parent. */
export function numberedRows<Row>(
  table: Table<Row>,
  criteria: Criteria,
  page: Walk,
  values: Values,
  parents: Parents,
): string {
  const { keys } = keysOf(table, page.order);
  const names = keys.map((_, i) => `key${i}`);
  const columns = keys.map((key, i) => `, ${key} as ${names[i]}`).join('');
  const rows = searchedRows(table, criteria, values, parents, boundsOf(table, page, values), columns);
  return `select parent, id, row_number() over (partition by parent${orderBy(names, page.isReverse)}) as number from (${rows}) as searched`;
}

function boundsOf<Row>(table: Table<Row>, { order, low, high }: Slice, values: Values): string[] {
  const { keys, column } = keysOf(table, order);
  const any: Criteria = { equal: [], tests: [], isPlannedByValues: false };
  return testsOf(keys, edgesOf(any, { order, low, high }, column, values, []));
}
