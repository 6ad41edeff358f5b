import type { Criteria } from './criteria';
import { testedColumns, walkedTests } from './row-tests';
import type { Values } from './statement-values';
import { type Column, idOrderOf, type Table } from './table';
import { walkOf } from './walk';

/** Share of a sample: if so many pass, walking on costs less than to search for all and to sort them. */
const MANY = 0.0075;
/** The same if they are found at little cost, by intervals of another order's index. */
const MOST_SEARCHED = 0.03;

/** Rows tried to find out how common the rows are that pass the tests, and where each has to be joined first. */
const SAMPLE = 2000;
const SAMPLE_OF_JOINED = 500;

export function sampleSizeOf<Row>({ joins }: Table<Row>): number {
  return joins ? SAMPLE_OF_JOINED : SAMPLE;
}

/** The first rows of the list, or of its first intervals, whatever the order of the page: `size` of them, and `hits` that pass the tests. */
export function sampleOf<Row>(
  table: Table<Row>,
  criteria: Criteria,
  values: Values,
  limit = sampleSizeOf(table),
  parent?: Column,
): string {
  const order = idOrderOf(table);
  const columns = testedColumns(table, criteria, order);
  const rows = walkOf(table, criteria, { order, isReverse: false, isUnordered: true, limit }, columns, values, parent);
  const hits = `count(*) filter (where ${walkedTests(criteria, order, values).join(' and ')})::int as hits`;
  return `select count(*)::int as size, ${hits} from (${rows}) as ${table.name}${table.joins ?? ''}`;
}

/** How many rows of a sample pass if there are many. */
export function manyOfSample<Row>(table: Table<Row>, { within }: Criteria): number {
  return Math.ceil(sampleSizeOf(table) * (within ? MOST_SEARCHED : MANY));
}
