import { type Column, columnOf, idOrderOf, orderOf, type Table } from '../table';
import { edgesOf, keysOf, type Slice, testsOf, where } from './slices';
import type { Criteria } from './criteria';
import type { Values } from './parameters';
import { type Parents, sliceOf, type Walk, walkOf } from './walk';

/** Rows walked past for each row of a page: a word that is less common is not looked for in this way alone. */
const WALKED_BY_ROW = 200;
/** Maximum number of rows walked past for all parents together. */
const MOST_WALKED = 10_000;

/** Rows tried to find out how common the rows are that pass the tests. */
export const SAMPLE = 2000;
/** Of a sample: with so many, walking on costs less than to search for all and to sort them. */
const MANY = 60;

/** Whether intervals of an index have just the rows that are read, in this order. */
export function isWalk({ ids, tests, within }: Criteria, order: string): boolean {
  return !ids && !tests.length && (!within || within.order === order);
}

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
  const unfilled = { ...parents, rows: 'unfilled' };
  const searched = (of: Parents) =>
    `select parent, id from (${numbered(table, criteria, page, values, of)}) as few where number <= ${limit}`;
  if (criteria.ids) return `found as materialized (${searched(parents)})`;

  const most = Math.max(limit, Math.min(WALKED_BY_ROW * limit, Math.floor(MOST_WALKED / parents.count)));
  const columns = testedColumns(table, criteria, page.order);
  const walk = (most?: number) => walkOf(table, criteria, { ...page, limit: most }, columns, values, parents.column);
  const walked = ({ rows }: Parents, most?: number) =>
    `select parent.id as parent, page.id from ${rows} as parent(id) cross join lateral (
select ${columnOf(table, table.idField)} as id from (${walk(most)}) as ${table.name}${passing(table, criteria, page, values)} limit ${limit}
) as page`;
  return `near as materialized (
${walked(parents, most)}
), unfilled as materialized (
select parent.id from ${parents.rows} as parent(id) where case
when (select count(*) from near where near.parent = parent.id) = ${limit} then false
else exists (select from (${walk(most + 1)}) as walked offset ${most}) end
), sample as materialized (
${sampleOf(table, criteria, values)}
), found as materialized (
select parent, id from near
union ${searched(unfilled)} and not (select hits >= ${MANY} from sample where exists (select from unfilled))
union ${walked(unfilled)} where (select hits >= ${MANY} from sample where exists (select from unfilled))
)`;
}

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
  const first = criteria.ids ? [criteria.ids(values)] : joins ? [] : searched;
  const others = [
    ...(column ? [`${column.sql} in (select parent.id from ${rows} as parent(id))`] : []),
    ...equalTo(criteria, values),
    ...(criteria.within ? [criteria.within.test(values)] : []),
    ...(first === searched ? [] : searched),
    ...more,
  ];
  const from = first.length ? `(select * from ${name}${where(first)} offset 0) as ${name}` : name;
  const parent = column ? column.sql : '0::bigint';
  const id = columnOf(table, table.idField);
  return `select ${parent} as parent, ${id} as id${columns} from ${from}${joins ?? ''}${where(others)}`;
}

/** Tests of a walk's rows: of all that no interval of its order's index has. */
export function walkedTests({ within, tests }: Criteria, order: string, values: Values): string[] {
  return [
    ...(within && within.order !== order ? [within.test(values)] : []),
    ...tests.map(({ walked }) => walked(values)),
  ];
}

/** The columns that such tests and the order need: an index may have them all. */
export function testedColumns<Row>(table: Table<Row>, { within, tests }: Criteria, order: string): string {
  const orders = [order, ...(within ? [within.order] : [])].map((name) => orderOf(table, name).column.sql);
  const columns = tests.flatMap(({ column }) => column?.sql ?? []);
  return [...new Set([columnOf(table, table.idField), ...orders, ...columns])].join(', ');
}

export function equalTo({ equal }: Criteria, values: Values): string[] {
  return equal.map(({ column, values: all }) => `${column.sql} = any(${values.allOf(column, all)})`);
}

/** A walk's rows that pass the tests. A plain walk keeps its order; a join need not. */
function passing<Row>(table: Table<Row>, criteria: Criteria, page: Walk, values: Values): string {
  const order = table.joins ? sorted(table, page) : '';
  return `${table.joins ?? ''}${where(walkedTests(criteria, page.order, values))}${order}`;
}

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

/** All the rows that match, numbered in the order of the page for each parent: read by the other order's index, or searched. */
function numbered<Row>(table: Table<Row>, criteria: Criteria, page: Walk, values: Values, parents: Parents): string {
  const { within, ids, tests } = criteria;
  const bounds = boundsOf(table, page, values);
  if (!within || within.order === page.order || ids || tests.length) {
    const partition = parents.column ? `partition by ${parents.column.sql}` : '';
    const number = `, row_number() over (${partition}${sorted(table, page)}) as number`;
    return searchedRows(table, criteria, values, parents, bounds, number);
  }
  const columns = testedColumns(table, criteria, page.order);
  const rows = sliceOf(table, criteria, { order: within.order }, columns, values, parents.column);
  const id = columnOf(table, table.idField);
  return `select parent.id as parent, ${id} as id, row_number() over (partition by parent.id${sorted(table, page)}) as number
from ${parents.rows} as parent(id) cross join lateral (${rows}) as ${table.name}${where(bounds)}`;
}

function boundsOf<Row>(table: Table<Row>, { order, low, high }: Slice, values: Values): string[] {
  const { keys, column } = keysOf(table, order);
  const edges = edgesOf({ equal: [], tests: [], isPlannedByValues: false }, { order, low, high }, column, values, []);
  return testsOf(keys, edges);
}

/** ` order by` the keys of a page's order. */
export function sorted<Row>(table: Table<Row>, { order, isReverse }: Pick<Walk, 'order' | 'isReverse'>): string {
  const { keys } = keysOf(table, order);
  return ` order by ${keys.map((key) => key + (isReverse ? ' desc' : '')).join(', ')}`;
}
