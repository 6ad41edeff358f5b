import type { Criteria } from './criteria';
import type { Parents } from './parents';
import { sorted, testedColumns, walkedTests } from './row-tests';
import { manyOfSample, sampleOf } from './sample';
import { numberedRows } from './searched-rows';
import { where } from './slices';
import type { Values } from './statement-values';
import { columnOf, type Table } from './table';
import { type Walk, walkOf } from './walk';

/** Rows walked past for each row of a page: a word that is less common is not looked for in this way alone. */
const WALKED_BY_ROW = 100;
/** The same in an order in which the rows that begin with the word are found by their ranges. */
const WALKED_BY_OTHERS = 25;
/** Maximum number of rows walked past for all parents together. */
const MOST_WALKED = 4_000;

/**
 * The queries of a `with` clause that find the rows of pages where no intervals of an index have them alone; the last is
 * `found(parent, id)`. The order of the page is walked for some way, which finds common rows. The pages that this does not
 * fill are walked on if a sample says that there are many such rows; else these few are searched for, once for all parents.
 * In the order of what contains a text, only those that do not begin with it: the others are walked by their ranges.
 */
export function searchOf<Row>(
  table: Table<Row>,
  criteria: Criteria,
  page: Walk & { readonly limit: number },
  values: Values,
  parents: Parents,
): string {
  const { limit, order } = page;
  const { beginning, elsewhere } = criteria.contained ?? {};
  const isRanged = beginning?.within?.order === order;
  const rest = isRanged && elsewhere ? elsewhere : criteria;
  const id = columnOf(table, table.idField);
  const searched = (of: Parents) =>
    `select parent, id from (${numberedRows(table, rest, page, values, of)}) as few where number <= ${limit}`;
  if (criteria.ids) return `found as materialized (${searched(parents)})`;

  const byRow = isRanged ? WALKED_BY_OTHERS : WALKED_BY_ROW;
  const most = Math.max(limit, Math.min(byRow * limit, Math.floor(MOST_WALKED / parents.count)));
  const walk = (of: Criteria, more: Partial<Walk>) =>
    walkOf(table, of, { ...page, ...more }, testedColumns(table, of, order), values, parents.column);
  const passing = (of: Criteria) => walk(of, { passing: walkedTests(of, order, values) });
  const ofEach = (parent: string, rows: string) =>
    `select parent.id as parent, page.id from ${parent} as parent(id) cross join lateral (select ${id} as id from (${rows}) as ${table.name}`;
  const isMany = `(select hits >= ${manyOfSample(table, rest)} from sample where exists (select from unfilled))`;
  return `near as materialized (
${ofEach(parents.rows, walk(criteria, { limit: most }))}${passed(table, criteria, page, values)} limit ${limit}) as page
), unfilled as materialized (
select parent.id from ${parents.rows} as parent(id) where case
when (select count(*) from near where near.parent = parent.id) = ${limit} then false
else exists (select from (${walk(criteria, { limit: most + 1, isUnordered: true })}) as walked offset ${most}) end
), sample as materialized (
${sampleOf(table, rest, values)}
), found as materialized (
select parent, id from near
union ${searched({ ...parents, rows: 'unfilled' })} and not ${isMany}
union ${ofEach('unfilled', passing(rest))}) as page where ${isMany}${
    isRanged && beginning ? `\nunion ${ofEach('unfilled', passing(beginning))}) as page` : ''
  }
)`;
}

/** A walk's rows that pass the tests. A plain walk keeps its order; a join need not. */
function passed<Row>(table: Table<Row>, criteria: Criteria, page: Walk, values: Values): string {
  const tests = where(walkedTests(criteria, page.order, values));
  return table.joins ? `${table.joins}${tests}${sorted(table, page)}` : tests;
}
