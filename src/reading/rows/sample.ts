import { type Column, idOrderOf, type Table } from '../table';
import type { Criteria } from './criteria';
import { testedColumns, walkedTests } from './row-tests';
import type { Values } from './statement-values';
import { walkOf } from './walk';

/** Rows tried to find out how common the rows are that pass the tests. */
export const SAMPLE = 2000;

/** The first rows of the list, whatever the order of the page: `size` of them, and `hits` that pass the tests. */
export function sampleOf<Row>(
  table: Table<Row>,
  criteria: Criteria,
  values: Values,
  limit = SAMPLE,
  parent?: Column,
): string {
  const order = idOrderOf(table);
  const columns = testedColumns(table, criteria, order);
  const rows = walkOf(table, criteria, { order, isReverse: false, limit }, columns, values, parent);
  const hits = `count(*) filter (where ${walkedTests(criteria, order, values).join(' and ')})::int as hits`;
  return `select count(*)::int as size, ${hits} from (${rows}) as ${table.name}${table.joins ?? ''}`;
}
