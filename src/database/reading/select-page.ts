import type { Session } from '../database';
import { boundedRows, boundedTexts } from './bounded-rows';
import { JsonWriter } from './json';
import { pageStatement, parentsOf, SHORT } from './page-statement';
import { projectionOf } from './projection';
import { type FieldSelection, JsonText, type Nested, type PageJson, type PageQuery } from './selection';
import { Values } from './statement-values';
import { orderOf, type Table } from './table';

/** The rows of a page. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  /** Whether more rows follow the page in the direction of reading. */
  readonly isMore: boolean;
}

/** Reads one page. */
export async function selectPage<Row>(
  session: Session,
  table: Table<Row>,
  page: PageQuery,
  selection?: FieldSelection,
): Promise<Page<Row>> {
  const values = new Values();
  const projection = projectionOf(table, selection, orderOf(table, page.order).field);
  const select = pageStatement(table, projection, oneMore(page), values);
  const rows = await boundedRows<Row>(session, select, values.list, page.limit * projection.mostBytes);
  return pageOfRows(page, projection.shape(rows));
}

/** Reads one page as JSON. Returns the JSON text of each member, by the key of the member. */
export async function selectPageAsJson<Row>(
  session: Session,
  table: Table<Row>,
  query: PageQuery,
  json: PageJson,
  nested: Nested | undefined,
): Promise<Readonly<Record<string, JsonText>>> {
  const values = new Values();
  const { members, from, isShort, isPlannedByValues, mostBytes, mostRows } = new JsonWriter(values, nested).page(
    table,
    json,
    query,
  );
  const texts = members.map(({ text }, index) => `${text} as t${index}`);
  const read = {
    rows: `select ${texts.join(', ')}${from}`,
    isShort: isShort && mostRows <= SHORT,
    isPlannedByValues,
  };
  const columns = members.map((_, index) => `t${index}`);
  const row = await boundedTexts(session, read, columns, values.list, mostBytes);
  const page: Record<string, JsonText> = Object.create(null);
  for (const [index, { key }] of members.entries()) page[key] = new JsonText(row?.[`t${index}`] ?? 'null');
  return page;
}

/**
 * Reads the same page for each of many parents, in one statement.
 * @param field the field that contains the id of the parent.
 */
export async function selectPages<Row>(
  session: Session,
  table: Table<Row>,
  field: string,
  ids: readonly bigint[],
  page: PageQuery,
  selection?: FieldSelection,
): Promise<Map<bigint, Page<Row>>> {
  const values = new Values();
  const [parents, filters] = parentsOf(table, field, ids, page.filters, values);
  const projection = projectionOf(table, selection, orderOf(table, page.order).field, field);
  const select = pageStatement(table, projection, oneMore({ ...page, filters }), values, parents);
  // A lateral join is a nested loop, which preserves the order of each parent's rows.
  const ofEach = `select page.* from ${parents.rows} as parent(id) cross join lateral (${select.rows}) as page`;
  const most = page.limit * parents.count * projection.mostBytes;
  const rows = await boundedRows<Row>(session, { ...select, rows: ofEach }, values.list, most);
  const found = new Map(ids.map((id): [bigint, Row[]] => [id, []]));
  for (const row of projection.shape(rows)) found.get(row[field as keyof Row] as bigint)?.push(row);
  return new Map([...found].map(([id, its]) => [id, pageOfRows(page, its)]));
}

/** The page with its limit raised by one. The extra row shows whether more rows follow. */
function oneMore(page: PageQuery): PageQuery {
  return { ...page, limit: page.limit + 1 };
}

/** @param rows the rows in the order in which they were read, with the extra row last. The function modifies this array. */
function pageOfRows<Row>({ limit, backward }: PageQuery, rows: Row[]): Page<Row> {
  const isMore = rows.length > limit;
  if (isMore) rows.pop();
  return { rows: backward ? rows.reverse() : rows, isMore };
}
