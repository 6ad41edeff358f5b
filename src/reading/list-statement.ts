import { type PageQuery, type PageStatement, pageStatement } from './page-statement';
import { projectionOf } from './projection';
import type { Values } from './rows/statement-values';
import type { Parents } from './rows/walk';
import type { Selection } from './selection';
import { orderOf, type Table } from './table';

/**
 * Whether a page can be read as one JSON array: its rows are selected only as JSON, in id order, and cannot be too large.
 * @param mostBytes of an array.
 */
export function isList<Row>(
  table: Table<Row>,
  page: PageQuery,
  mostBytes: number,
  selection?: Selection,
): selection is Selection {
  if (!selection?.isList || orderOf(table, page.order).field !== table.idField) return false;
  const projection = projectionOf(table, selection, table.idField);
  return projection.isJson && page.limit * projection.mostBytes <= mostBytes;
}

/**
 * Builds a statement that returns the page in one row: `$json`, and if they are selected `isMore`, `low` and `high`. The
 * subquery's rows come in the order in which they are read, the row beyond the page last.
 */
export function listStatement<Row>(
  table: Table<Row>,
  page: PageQuery,
  selection: Selection,
  values: Values,
  parents?: Parents,
): PageStatement {
  const { limit, backward } = page;
  const read = selection.hasPageInfo ? { ...page, limit: limit + 1 } : page;
  const statement = pageStatement(table, projectionOf(table, selection, table.idField), read, values, parents);
  const { rows } = statement;
  const id = `page."${table.idField}"`;
  const order = backward ? ` order by ${id}${page.descending ? ' desc' : ''}` : '';
  const array = (filter: string) =>
    `coalesce('[' || string_agg(page."$json", ','${order})${filter} || ']', '[]') as "$json"`;
  if (!selection.hasPageInfo) return { ...statement, rows: `select ${array('')} from (${rows}) as page` };
  const most = values.add(limit, '::int');
  const inPage = ` filter (where page.number <= ${most})`;
  return {
    ...statement,
    rows: `select ${array(inPage)}, count(*) > ${most} as "isMore", min(${id})${inPage} as low, max(${id})${inPage} as high
from (select rows.*, row_number() over () as number from (${rows}) as rows) as page`,
  };
}
