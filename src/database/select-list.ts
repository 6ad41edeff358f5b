import type { Session } from './database';
import { isShort, orderOf, type PageQuery, pageOf } from './page-statement';
import { type Fields, projectionOf } from './projection';
import { statement } from './statement';
import type { Spelled, Table } from './tables';

/** A page as one JSON array, built by the database. */
export interface List extends Required<Spelled> {
  /** Whether there are rows beyond the page; only known if `pageInfo` was requested. */
  readonly isMore: boolean;
  /** The ids of the first and last row; empty if the page is empty or `pageInfo` was not requested. */
  readonly ends: readonly bigint[];
}

/** A list as returned by the database: if `pageInfo` was requested, with the ids of all rows and one extra row. */
interface Answer extends Required<Spelled> {
  readonly ids?: string | null;
}

/** Whether a page can be read as a list: its rows are requested only as JSON, in id order. */
export function isList<Row>(
  table: Table<Row>,
  page: PageQuery,
  fields: Fields | undefined,
): fields is Fields {
  return (
    fields?.shape?.isList === true &&
    orderOf(table, page.order).field === table.idField &&
    projectionOf(table, fields, table.idField).isSpelled
  );
}

/** Reads one page. */
export async function selectList<Row>(
  session: Session,
  table: Table<Row>,
  page: PageQuery,
  fields: Fields,
): Promise<List> {
  const values: unknown[] = [];
  const select = statement(listOf(table, page, fields, values));
  const [answer] = await session.query<Answer>(select, values, isShort(page));
  return cut(answer as Answer, page, fields);
}

/** Reads the same page for each of many parents, in one statement: see {@link selectPages}. */
export async function selectLists<Row>(
  session: Session,
  table: Table<Row>,
  column: string,
  parents: readonly bigint[],
  page: PageQuery,
  fields: Fields,
): Promise<Map<bigint, List>> {
  const values: unknown[] = [parents];
  const lateral = listOf(table, page, fields, values, `${table.columns[column]} = parent.id`);
  const text = `select parent.id as parent, list.* from unnest($1::bigint[]) as parent(id) cross join lateral (${lateral}) as list`;
  const answers = await session.query<Answer & { parent: bigint }>(
    statement(text),
    values,
    isShort(page, parents.length),
  );
  return new Map(answers.map((answer) => [answer.parent, cut(answer, page, fields)]));
}

/** The subquery returns rows in page order; rows read from the end must be reversed. */
function listOf<Row>(
  table: Table<Row>,
  page: PageQuery,
  fields: Fields,
  values: unknown[],
  parent?: string,
): string {
  const areEndsAsked = fields.has('pageInfo');
  const asked = areEndsAsked ? { ...page, limit: page.limit + 1 } : page;
  const rows = pageOf(table, projectionOf(table, fields, table.idField), asked, values, parent);
  const id = `page."${table.idField}"`;
  const order = page.backward ? ` order by ${id}${page.descending ? ' desc' : ''}` : '';
  const columns = [`coalesce('[' || string_agg(page.json, ','${order}) || ']', '[]') as json`];
  if (areEndsAsked) columns.push(`string_agg(${id}::text, ','${order}) as ids`);
  return `select ${columns.join(', ')} from (${rows}) as page`;
}

/** Removes the extra row, which was read only to find out whether it exists. */
function cut({ json, ids }: Answer, { limit, backward }: PageQuery, { shape }: Fields): List {
  if (ids == null) return { json, isMore: false, ends: [] };
  const all = ids.split(',');
  const isMore = all.length > limit;
  const first = all[isMore && backward ? 1 : 0] as string;
  const last = all[isMore && !backward ? limit - 1 : all.length - 1] as string;
  const ends = [BigInt(first), BigInt(last)];
  if (!isMore) return { json, isMore, ends };
  // Inside a JSON string every quote is preceded by a backslash, and a closing quote is never followed by a key.
  const border = `},{"${shape?.members[0]?.key}":`;
  return backward
    ? { json: `[${json.slice(json.indexOf(border) + 2)}`, isMore, ends }
    : { json: `${json.slice(0, json.lastIndexOf(border) + 1)}]`, isMore, ends };
}
