import type { Session } from '../database';
import { statement } from '../statement';
import { isShort, orderOf, type PageQuery, pageStatement } from './page-statement';
import { projectionOf } from './projection';
import type { Selection } from './selection';
import { columnOf, type Table } from './table';
import type { Serialized } from './tables';

/** A page as one JSON array, built by the database. Its bounds are known only if they are selected. */
export interface List extends Required<Serialized> {
  /** Whether there are rows beyond the page. */
  readonly isMore?: boolean;
  /** The lowest and the highest id; null for an empty page. */
  readonly low?: bigint | null;
  readonly high?: bigint | null;
}

/** Whether a page can be read as a list: its rows are selected only as JSON, in id order. */
export function isList<Row>(
  table: Table<Row>,
  page: PageQuery,
  selection?: Selection,
): selection is Selection {
  return (
    selection?.isList === true &&
    orderOf(table, page.order).field === table.idField &&
    projectionOf(table, selection, table.idField).isJson
  );
}

/** Reads one page. */
export async function selectList<Row>(
  session: Session,
  table: Table<Row>,
  page: PageQuery,
  selection: Selection,
): Promise<List> {
  const values: unknown[] = [];
  const select = statement(listOf(table, page, selection, values));
  const [list] = await session.query<List>(select, values, isShort(page));
  return list as List;
}

/** Reads the same page for each of many parents, in one statement: see {@link selectPages}. */
export async function selectLists<Row>(
  session: Session,
  table: Table<Row>,
  column: string,
  parents: readonly bigint[],
  page: PageQuery,
  selection: Selection,
): Promise<Map<bigint, List>> {
  const values: unknown[] = [parents];
  const lateral = listOf(table, page, selection, values, `${columnOf(table, column)} = parent.id`);
  const text = `select parent.id as parent, list.* from unnest($1::bigint[]) as parent(id) cross join lateral (${lateral}) as list`;
  const lists = await session.query<List & { parent: bigint }>(
    statement(text),
    values,
    isShort(page, parents.length),
  );
  return new Map(lists.map((list) => [list.parent, list]));
}

/** The subquery's rows come in the order in which they are read, the row beyond the page last. */
function listOf<Row>(
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
