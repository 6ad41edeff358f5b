import type { Session } from './database';
import { orderOf, type PageQuery, pageOf, sharingOf } from './page-statement';
import { type Fields, projectionOf } from './projection';
import { statement } from './statement';
import type { Spelled, Table } from './tables';

/** A page as one JSON array, written by the database; its other members are there where its ends were asked for. */
export interface List extends Required<Spelled> {
  /** Whether there was the row more that was asked for; it is not in the array. */
  readonly isMore?: boolean;
  /** The ids at the two ends; null where the page is empty. */
  readonly least?: bigint | null;
  readonly greatest?: bigint | null;
}

/** Whether a page can be read as a list: its rows are asked for as nothing but JSON, in the order of their ids. */
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

/** One page. @param page asks for one row more than the list is to have. */
export async function selectList<Row>(
  session: Session,
  table: Table<Row>,
  page: PageQuery,
  fields: Fields,
): Promise<List> {
  const values: unknown[] = [];
  const select = statement(listOf(table, page, fields, values));
  const [list] = await session.query<List>(select, values, sharingOf(page));
  return list as List;
}

/** The same page for each of many parents, in one statement: see {@link selectPages}. */
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
  const lists = await session.query<List & { parent: bigint }>(
    statement(text),
    values,
    sharingOf(page, parents.length),
  );
  return new Map(lists.map((list) => [list.parent, list]));
}

function listOf<Row>(
  table: Table<Row>,
  page: PageQuery,
  fields: Fields,
  values: unknown[],
  parent?: string,
): string {
  const rows = pageOf(table, projectionOf(table, fields, table.idField), page, values, parent);
  const limit = `$${values.length}`;
  const id = `numbered."${table.idField}"`;
  const onPage = `filter (where numbered.n < ${limit})`;
  const array = `string_agg(numbered.json, ',' order by numbered.n${page.backward ? ' desc' : ''}) ${onPage}`;
  const columns = [`coalesce('[' || ${array} || ']', '[]') as json`];
  if (fields.has('pageInfo'))
    columns.push(
      `coalesce(bool_or(numbered.n = ${limit}), false) as "isMore"`,
      `min(${id}) ${onPage} as least`,
      `max(${id}) ${onPage} as greatest`,
    );
  const numbered = `select row_number() over () as n, page.* from (${rows}) as page`;
  return `select ${columns.join(', ')} from (${numbered}) as numbered`;
}
