import type { Session } from '../database';
import { boundedRows } from './bounded-rows';
import { listProjection, listStatement } from './list-statement';
import { type PageQuery, pageStatement } from './page-statement';
import { parentsOf } from './parents';
import { projectionOf } from './projection';
import type { Selection, Serialized } from './selection';
import { Values } from './statement-values';
import { orderOf, type Table } from './table';

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

const NONE: List = { $json: '[]' };

/** Reads one page. */
export async function selectPage<Row>(
  session: Session,
  table: Table<Row>,
  page: PageQuery,
  selection?: Selection,
): Promise<Page<Row>> {
  const values = new Values();
  const json = listProjection(session.work, table, page, selection);
  if (json) {
    const list = listStatement(table, json, page, selection?.hasPageInfo, values);
    const [read = {}] = await boundedRows<List>(session, list, values.list, 0);
    return pageOfList(table, page, read);
  }
  const projection = projectionOf(table, selection, orderOf(table, page.order).field);
  const select = pageStatement(table, projection, oneMore(page), values);
  const rows = await boundedRows<Row>(session, select, values.list, page.limit * projection.mostBytes);
  return pageOfRows(page, projection.shape(rows));
}

/**
 * Reads the same page for each of many parents, in one statement.
 * @param field the field that has the parent's id.
 */
export async function selectPages<Row>(
  session: Session,
  table: Table<Row>,
  field: string,
  ids: readonly bigint[],
  page: PageQuery,
  selection?: Selection,
): Promise<Map<bigint, Page<Row>>> {
  const values = new Values();
  const [parents, filters] = parentsOf(table, field, ids, page.filters, values);
  const some = { ...page, filters };
  const all = page.limit * parents.count;
  // A lateral join is a nested loop, which preserves the order of each parent's rows.
  const each = (columns: string, lateral: string) =>
    `select ${columns} from ${parents.rows} as parent(id) cross join lateral (${lateral}) as page`;
  const json = listProjection(session.work, table, page, selection);
  if (json) {
    const list = listStatement(table, json, some, selection?.hasPageInfo, values, parents);
    const select = { ...list, rows: each('parent.id as parent, page.*', list.rows) };
    const lists = await boundedRows<List & { parent: bigint }>(session, select, values.list, all * json.mostBytes);
    const found = new Map(lists.map((read) => [read.parent, read]));
    return new Map(ids.map((id) => [id, pageOfList(table, page, found.get(id) ?? NONE)]));
  }
  const projection = projectionOf(table, selection, orderOf(table, page.order).field, field);
  const select = pageStatement(table, projection, oneMore(some), values, parents);
  const ofEach = { ...select, rows: each('page.*', select.rows) };
  const rows = await boundedRows<Row>(session, ofEach, values.list, all * projection.mostBytes);
  const found = new Map(ids.map((id): [bigint, Row[]] => [id, []]));
  for (const row of projection.shape(rows)) found.get(row[field as keyof Row] as bigint)?.push(row);
  return new Map([...found].map(([id, its]) => [id, pageOfRows(page, its)]));
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
