import type { Session, Statement } from '../database';
import { statement as statementOf, statementOrUnnamed } from '../statement';
import type { Visibility } from '../visibility';
import { JsonText } from './json-text';
import { JsonWriter } from './json-writer';
import { pageStatement, parentsOf, type ReadSql, SHORT } from './page-statement';
import { type Projection, projectionOf } from './projection';
import type { FieldSelection, Nested, PageJson, PageQuery, RowJson, RowSelection } from './selection';
import { StatementScope } from './statement-scope';
import { columnOf, orderOf, type Table } from './table';

/** Reads rows by their ids. The map has no entry for an id without a row. */
export async function selectByIds<Row>(
  session: Session,
  table: Table<Row>,
  ids: readonly bigint[],
  selection?: FieldSelection,
): Promise<Map<bigint, Row>> {
  const scope = new StatementScope(session);
  const projection = projectionOf(table, selection, scope);
  const isOne = ids.length === 1;
  scope.values.push(isOne ? ids[0] : ids);
  const statement = (isOne ? byId : byIds)(table, projection);
  const isShort = ids.length <= SHORT;
  const read = { sql: statement.text, statement, isShort, isPlannedByValues: false };
  const rows = await boundedRows<Row>(session, read, scope, ids.length * projection.mostBytes);
  return new Map(projection.shape(rows).map((row) => [table.idOf(row), row]));
}

/** Reads a row in the form of the selection. Returns `undefined` if the row does not exist. */
export async function selectOne<Row>(
  session: Session,
  table: Table<Row>,
  id: bigint,
  selection: RowSelection,
): Promise<Row | JsonText | undefined> {
  if (selection.kind === 'row-json') return selectAsJson(session, table, id, selection.row, selection.nested);
  return (await selectByIds(session, table, [id], selection)).get(id);
}

async function selectAsJson<Row>(
  session: Session,
  table: Table<Row>,
  id: bigint,
  json: RowJson,
  nested: Nested | undefined,
): Promise<JsonText | undefined> {
  const scope = new StatementScope(session);
  const parameter = scope.add(id, 'bigint');
  const statements = rowStatements[scope.visibilityKind];
  let known = nested ? undefined : statements.get(json);
  if (!known) {
    const { text, joins, mostBytes, mostRows } = new JsonWriter(scope, nested).row(table, json);
    const from = `${scope.from(table)}${joins} where ${columnOf(table, table.idField)} = ${parameter}`;
    known = { statement: statementOf(`select ${text} as json from ${from}`), mostBytes, mostRows };
    if (!nested) statements.set(json, known);
  }
  const { statement, mostBytes, mostRows } = known;
  const read = { sql: statement.text, statement, isShort: mostRows <= SHORT, isPlannedByValues: false };
  const row = await boundedTexts(session, read, ['json'], scope, mostBytes);
  return row && new JsonText(row.json);
}

interface RowStatement {
  readonly statement: Statement;
  readonly mostBytes: number;
  readonly mostRows: number;
}

/** A cache of statements for selections without nested pages. These statements are the same for all requests. */
const rowStatements: Readonly<Record<Visibility['kind'], WeakMap<RowJson, RowStatement>>> = {
  all: new WeakMap(),
  unowned: new WeakMap(),
  owned: new WeakMap(),
};

const byId = finding('= $1');
const byIds = finding('= any($1::bigint[])');

/**
 * Caches statements that read rows by id, with the projection as the key. The statement depends on nothing else: the projection
 * contains the condition of the visible rows. A lookup by text would be slower, since the text must be built and hashed first.
 */
function finding(condition: string): <Row>(table: Table<Row>, projection: Projection) => Statement {
  const statements = new WeakMap<Projection, Statement>();
  return (table, projection) => {
    let known = statements.get(projection);
    if (!known) {
      const { columns, from } = projection;
      known = statementOf(`select ${columns} from ${from} where ${columnOf(table, table.idField)} ${condition}`);
      statements.set(projection, known);
    }
    return known;
  };
}

/** The rows of a statement exceed their maximum size. */
export class TooManyBytes extends Error {}

/**
 * Reads rows, with a total size of at most `session.requester.maxStatementBytes`, since larger results would fill the process's
 * memory. If `most` is within the limit, the statement runs unchanged. Otherwise the database adds up the sizes of the rows,
 * and stops sending rows when the sum exceeds the limit.
 * @param most the maximum size of all rows in bytes, if every text has its maximum length.
 * @throws TooManyBytes
 */
function boundedRows<Row>(session: Session, read: ReadSql, scope: StatementScope, most: number): Promise<Row[]> {
  const { maxStatementBytes = Infinity } = session.requester;
  if (most > maxStatementBytes) return countedRows(session, read, scope, maxStatementBytes);
  return session.query<Row>(statementIn(read, scope), scope.values, read.isShort);
}

/** The statement of a read. @param sql the SQL if it differs from the SQL of the read. */
function statementIn(read: ReadSql, scope: StatementScope, sql = read.sql): Statement {
  const { statement, isPlannedByValues } = read;
  const text = scope.complete(sql);
  return statement && text === statement.text ? statement : statementOrUnnamed(text, isPlannedByValues);
}

/**
 * Reads one row of text columns that are never null. Returns `undefined` if there is no row. If `most` exceeds
 * `session.requester.maxStatementBytes`, the database measures the texts first, and sends none if they are too large.
 * @param columns the names of the text columns.
 * @param most the total size of the texts in bytes, if each has its maximum length.
 * @throws TooManyBytes
 */
async function boundedTexts<Column extends string>(
  session: Session,
  read: ReadSql,
  columns: readonly Column[],
  scope: StatementScope,
  most: number,
): Promise<Readonly<Record<Column, string>> | undefined> {
  const { maxStatementBytes = Infinity } = session.requester;
  let { sql } = read;
  if (most > maxStatementBytes) {
    const texts = columns.map((name) => `case when bytes <= ${maxStatementBytes} then ${name} end as ${name}`);
    const sized = `select read.*, octet_length(read::text) as bytes from (${read.sql}) as read`;
    sql = `select ${texts.join(', ')} from (${sized}) as sized`;
  }
  const statement = statementIn(read, scope, sql);
  const [row] = await session.query<Record<Column, string | null>>(statement, scope.values, read.isShort);
  const [first] = columns;
  if (row && first !== undefined && row[first] === null)
    throw new TooManyBytes(`the texts of a statement exceed ${maxStatementBytes} bytes`);
  return row as Record<Column, string> | undefined;
}

async function countedRows<Row>(
  session: Session,
  read: ReadSql,
  scope: StatementScope,
  maxStatementBytes: number,
): Promise<Row[]> {
  const counted = `select * from (
select read.*, sum(octet_length(read::text)) over (rows unbounded preceding) as "$bytes", octet_length(read::text) as "$own"
from (${read.sql}) as read) as read where "$bytes" - "$own" <= ${maxStatementBytes}`;
  const statement = statementIn(read, scope, counted);
  const found = await session.query<Row & { $bytes?: bigint; $own?: number }>(statement, scope.values, false);
  if ((found.at(-1)?.$bytes ?? 0) > maxStatementBytes)
    throw new TooManyBytes(`the rows of a statement exceed ${maxStatementBytes} bytes`);
  for (const row of found) {
    delete row.$bytes;
    delete row.$own;
  }
  return found;
}

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
  const scope = new StatementScope(session);
  const projection = projectionOf(table, selection, scope, orderOf(table, page.order).field);
  const select = pageStatement(table, projection, oneMore(page), scope);
  const rows = await boundedRows<Row>(session, select, scope, page.limit * projection.mostBytes);
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
  const scope = new StatementScope(session);
  const { members, from, isShort, isPlannedByValues, mostBytes, mostRows } = new JsonWriter(scope, nested).page(
    table,
    json,
    query,
  );
  const texts = members.map(({ text }, index) => `${text} as t${index}`);
  const read = {
    sql: `select ${texts.join(', ')}${from}`,
    isShort: isShort && mostRows <= SHORT,
    isPlannedByValues,
  };
  const columns = members.map((_, index) => `t${index}`);
  const row = await boundedTexts(session, read, columns, scope, mostBytes);
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
  const scope = new StatementScope(session);
  const [parents, filters] = parentsOf(table, field, ids, page.filters, scope);
  const projection = projectionOf(table, selection, scope, orderOf(table, page.order).field, field);
  const select = pageStatement(table, projection, oneMore({ ...page, filters }), scope, parents);
  // A lateral join is a nested loop, which preserves the order of each parent's rows.
  const ofEach = `select page.* from ${parents.rows} as parent(id) cross join lateral (${select.sql}) as page`;
  const most = page.limit * parents.count * projection.mostBytes;
  const rows = await boundedRows<Row>(session, { ...select, sql: ofEach }, scope, most);
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
