import { columnOf, type Table } from '../table';
import type { Criteria } from './criteria';
import { sorted, testedColumns, walkedTests } from './row-tests';
import { sampleOf } from './sample';
import { numberedRows } from './searched-rows';
import { where } from './slices';
import type { Values } from './statement-values';
import { type Parents, type Walk, walkOf } from './walk';

/** Rows walked past for each row of a page: a word that is less common is not looked for in this way alone. */
const WALKED_BY_ROW = 200;
/** Maximum number of rows walked past for all parents together. */
const MOST_WALKED = 10_000;
/** Of a sample: with so many, walking on costs less than to search for all and to sort them. */
const MANY = 60;

/**
 * The queries of a `with` clause that find the rows of pages where no intervals of an index have them alone; the last is
 * `found(parent, id)`. The order of the page is walked for some way, which finds common rows. The pages that this does not
 * fill are walked on if a sample says that there are many such rows; else these few are searched for, once for all parents.
 */
export function searchOf<Row>(
  table: Table<Row>,
  criteria: Criteria,
  page: Walk & { readonly limit: number },
  values: Values,
  parents: Parents,
): string {
  const { limit } = page;
  const searched = (of: Parents) =>
    `select parent, id from (${numberedRows(table, criteria, page, values, of)}) as few where number <= ${limit}`;
  if (criteria.ids) return `found as materialized (${searched(parents)})`;

  const most = Math.max(limit, Math.min(WALKED_BY_ROW * limit, Math.floor(MOST_WALKED / parents.count)));
  const columns = testedColumns(table, criteria, page.order);
  const walk = (most?: number) => walkOf(table, criteria, { ...page, limit: most }, columns, values, parents.column);
  const walked = (rows: string, most?: number) =>
    `select parent.id as parent, page.id from ${rows} as parent(id) cross join lateral (
select ${columnOf(table, table.idField)} as id from (${walk(most)}) as ${table.name}${passing(table, criteria, page, values)} limit ${limit}
) as page`;
  return `near as materialized (
${walked(parents.rows, most)}
), unfilled as materialized (
select parent.id from ${parents.rows} as parent(id) where case
when (select count(*) from near where near.parent = parent.id) = ${limit} then false
else exists (select from (${walk(most + 1)}) as walked offset ${most}) end
), sample as materialized (
${sampleOf(table, criteria, values)}
), found as materialized (
select parent, id from near
union ${searched({ ...parents, rows: 'unfilled' })} and not (select hits >= ${MANY} from sample where exists (select from unfilled))
union ${walked('unfilled')} where (select hits >= ${MANY} from sample where exists (select from unfilled))
)`;
}

/** A walk's rows that pass the tests. A plain walk keeps its order; a join need not. */
function passing<Row>(table: Table<Row>, criteria: Criteria, page: Walk, values: Values): string {
  const tests = where(walkedTests(criteria, page.order, values));
  return table.joins ? `${table.joins}${tests}${sorted(table, page)}` : tests;
}
