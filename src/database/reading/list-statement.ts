import { orderOf, type PageQuery, pageStatement } from './page-statement';
import { projectionOf } from './projection';
import type { Selection } from './selection';
import type { Table } from './table';

/** Whether a page can be read as one JSON array: its rows are selected only as JSON, in id order. */
export function isList<Row>(table: Table<Row>, page: PageQuery, selection?: Selection): selection is Selection {
  return (
    selection?.isList === true &&
    orderOf(table, page.order).field === table.idField &&
    projectionOf(table, selection, table.idField).isJson
  );
}

/**
 * Builds a statement that returns the page in one row: `$json`, and if they are selected `isMore`, `low` and `high`. The
 * subquery's rows come in the order in which they are read, the row beyond the page last.
 */
export function listStatement<Row>(
  table: Table<Row>,
  page: PageQuery,
  selection: Selection,
  values: unknown[],
  parent?: string,
): string {
  const { limit, backward } = page;
  const read = selection.hasPageInfo ? { ...page, limit: limit + 1 } : page;
  const rows = pageStatement(table, projectionOf(table, selection, table.idField), read, values, parent);
  const id = `page."${table.idField}"`;
  const order = backward ? ` order by ${id}${page.descending ? ' desc' : ''}` : '';
  const array = (filter: string) =>
    `coalesce('[' || string_agg(page."$json", ','${order})${filter} || ']', '[]') as "$json"`;
  if (!selection.hasPageInfo) return `select ${array('')} from (${rows}) as page`;
  const inPage = ` filter (where page.number <= $${values.push(limit)}::int)`;
  return `select ${array(inPage)}, count(*) > $${values.length} as "isMore", min(${id})${inPage} as low, max(${id})${inPage} as high
from (select rows.*, row_number() over () as number from (${rows}) as rows) as page`;
}
