import type { Session } from '../database';
import { isList, listStatement } from './list-statement';
import { isShort, orderOf, type PageQuery, pageStatement } from './page-statement';
import { projectionOf } from './projection';
import type { Selection } from './selection';
import { statement } from './statement';
import { columnOf, type Table } from './table';
import type { Serialized } from './tables';

/** A page as read. */
export interface Page<Row> {
  /** In order. Of a page that is one JSON array only the first and the last, by their ids, if its bounds are selected. */
  readonly rows: readonly Row[];
  /** Whether there are rows beyond the page, in the direction in which it is read. */
  readonly isMore: boolean;
  /** All rows as one JSON array, built by the database, if nothing else is selected. */
  readonly list?: Serialized;
}

/** What {@link listStatement} returns; the lowest and the highest id are null for an empty page. */
interface List extends Serialized {
  readonly isMore?: boolean;
  readonly low?: bigint | null;
  readonly high?: bigint | null;
}

/** Reads one page. */
export async function selectPage<Row>(
  session: Session,
  table: Table<Row>,
  page: PageQuery,
  selection?: Selection,
): Promise<Page<Row>> {
  const values: unknown[] = [];
  if (isList(table, page, selection)) {
    const text = listStatement(table, page, selection, values);
    const [list = {}] = await session.query<List>(statement(text), values, isShort(page));
    return pageOfList(table, page, list);
  }
  const projection = projectionOf(table, selection, orderOf(table, page.order).field);
  const read = oneMore(page);
  const text = pageStatement(table, projection, read, values);
  const rows = await session.query<Row>(statement(text), values, isShort(read));
  return pageOfRows(page, projection.shape(rows));
}

/**
 * Reads the same page for each of many parents, in one statement.
 * @param column name of both the filter (`categoryId`) and the field that hold the parent's id.
 */
export async function selectPages<Row>(
  session: Session,
  table: Table<Row>,
  column: string,
  parents: readonly bigint[],
  page: PageQuery,
  selection?: Selection,
): Promise<Map<bigint, Page<Row>>> {
  const values: unknown[] = [parents];
  const isParent = `${columnOf(table, column)} = parent.id`;
  // A lateral join is a nested loop, which preserves the order of each parent's rows.
  const each = (columns: string, lateral: string) =>
    statement(`select ${columns} from unnest($1::bigint[]) as parent(id) cross join lateral (${lateral}) as page`);
  if (isList(table, page, selection)) {
    const select = each('parent.id as parent, page.*', listStatement(table, page, selection, values, isParent));
    const isRead = isShort(page, parents.length);
    const lists = await session.query<List & { parent: bigint }>(select, values, isRead);
    return new Map(lists.map((list) => [list.parent, pageOfList(table, page, list)]));
  }
  const projection = projectionOf(table, selection, orderOf(table, page.order).field, column);
  const read = oneMore(page);
  const select = each('page.*', pageStatement(table, projection, read, values, isParent));
  const rows = await session.query<Row>(select, values, isShort(read, parents.length));
  const found = new Map(parents.map((parent): [bigint, Row[]] => [parent, []]));
  for (const row of projection.shape(rows)) found.get(row[column as keyof Row] as bigint)?.push(row);
  return new Map([...found].map(([parent, its]) => [parent, pageOfRows(page, its)]));
}

/** One extra row shows whether there are more. */
function oneMore(page: PageQuery): PageQuery {
  return { ...page, limit: page.limit + 1 };
}

/** @param rows as read: from the end if backward, the row beyond the page last. Modified. */
function pageOfRows<Row>({ limit, backward }: PageQuery, rows: Row[]): Page<Row> {
  const isMore = rows.length > limit;
  if (isMore) rows.pop();
  return { rows: backward ? rows.reverse() : rows, isMore };
}

function pageOfList<Row>(table: Table<Row>, { descending }: PageQuery, list: List): Page<Row> {
  const { low, high, isMore = false } = list;
  const ids = low == null || high == null ? [] : descending ? [high, low] : [low, high];
  return { rows: ids.map((id) => ({ [table.idField]: id }) as Row), isMore, list };
}
