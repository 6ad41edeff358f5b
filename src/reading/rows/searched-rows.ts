import { columnOf, type Table } from '../table';
import type { Criteria } from './criteria';
import { equalTo, sorted, testedColumns } from './row-tests';
import { edgesOf, keysOf, type Slice, testsOf, where } from './slices';
import type { Values } from './statement-values';
import { type Parents, sliceOf, type Walk } from './walk';

/**
 * All rows of the parents that match, as `parent, id`. What finds few rows comes first, behind `offset 0`: the planner, which
 * does not know the values, would choose otherwise; only those of a join it has to be left, with the values.
 */
export function searchedRows<Row>(
  table: Table<Row>,
  criteria: Criteria,
  values: Values,
  { rows, column }: Parents,
  more: readonly string[] = [],
  columns = '',
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

/** All the rows that match, numbered in the order of the page for each parent: read by the other order's index, or searched. */
export function numberedRows<Row>(
  table: Table<Row>,
  criteria: Criteria,
  page: Walk,
  values: Values,
  parents: Parents,
): string {
  const { within, ids, tests } = criteria;
  const bounds = boundsOf(table, page, values);
  if (!within || within.order === page.order || ids || tests.length) {
    const partition = parents.column ? `partition by ${parents.column.sql}` : '';
    const number = `, row_number() over (${partition}${sorted(table, page)}) as number`;
    return searchedRows(table, criteria, values, parents, bounds, number);
  }
  const columns = testedColumns(table, criteria, page.order);
  const rows = sliceOf(table, criteria, { order: within.order }, columns, values, parents.column);
  return `select parent.id as parent, ${columnOf(table, table.idField)} as id, row_number() over (partition by parent.id${sorted(table, page)}) as number
from ${parents.rows} as parent(id) cross join lateral (${rows}) as ${table.name}${where(bounds)}`;
}

function boundsOf<Row>(table: Table<Row>, { order, low, high }: Slice, values: Values): string[] {
  const { keys, column } = keysOf(table, order);
  const any: Criteria = { equal: [], tests: [], isPlannedByValues: false };
  return testsOf(keys, edgesOf(any, { order, low, high }, column, values, []));
}
