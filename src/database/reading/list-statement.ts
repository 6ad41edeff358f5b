import type { Work } from '../deadline';
import type { Read } from './bounded-rows';
import { type PageQuery, pageStatement } from './page-statement';
import type { Parents } from './parents';
import { type Projection, projectionOf } from './projection';
import type { Selection } from './selection';
import { orderBy } from './slices';
import type { Values } from './statement-values';
import { orderOf, type Table } from './table';

/**
 * How a page's rows are read if it can be read as one JSON array: they are selected only as JSON, in id order, and cannot
 * be too large.
 */
export function listProjection<Row>(
  { mostBytes = Infinity }: Work,
  table: Table<Row>,
  page: PageQuery,
  selection?: Selection,
): Projection | undefined {
  if (!selection?.isList || orderOf(table, page.order).field !== table.idField) return undefined;
  const projection = projectionOf(table, selection, table.idField);
  return projection.isJson && page.limit * projection.mostBytes <= mostBytes ? projection : undefined;
}

/**
 * Builds a statement that returns the page in one row: `$json`, and if they are selected `isMore`, `low` and `high`. The
 * subquery's rows come in the order in which they are read, the row beyond the page last.
 */
export function listStatement<Row>(
  table: Table<Row>,
  projection: Projection,
  page: PageQuery,
  hasPageInfo: boolean | undefined,
  values: Values,
  parents?: Parents,
): Read {
  const { limit, backward } = page;
  const read = hasPageInfo ? { ...page, limit: limit + 1 } : page;
  const statement = pageStatement(table, projection, read, values, parents);
  const { rows } = statement;
  const id = `page."${table.idField}"`;
  const order = backward ? orderBy([id], page.descending) : '';
  const array = (filter: string) =>
    `coalesce('[' || string_agg(page."$json", ','${order})${filter} || ']', '[]') as "$json"`;
  if (!hasPageInfo) return { ...statement, rows: `select ${array('')} from (${rows}) as page` };
  const most = values.add(limit, '::int');
  const inPage = ` filter (where page.number <= ${most})`;
  return {
    ...statement,
    rows: `select ${array(inPage)}, count(*) > ${most} as "isMore", min(${id})${inPage} as low, max(${id})${inPage} as high
from (select rows.*, row_number() over () as number from (${rows}) as rows) as page`,
  };
}
