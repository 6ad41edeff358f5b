import type { Session, Statement } from '../database';
import { statement } from '../statement';
import {
  conditions,
  type Filters,
  isShort,
  orderOf,
  type PageQuery,
  pageStatement,
  SHORT,
  where,
} from './page-statement';
import { type Projection, projectionOf } from './projection';
import type { Selection } from './selection';
import { columnOf, type Table } from './table';

/** Reads the rows of `ids`, by id; rows that do not exist are missing from the map. */
export async function selectByIds<Row>(
  session: Session,
  table: Table<Row>,
  ids: readonly bigint[],
  selection?: Selection,
): Promise<Map<bigint, Row>> {
  const projection = projectionOf(table, selection);
  const isOne = ids.length === 1;
  const select = (isOne ? byId : byIds)(table, projection);
  const rows = await session.query<Row>(select, [isOne ? ids[0] : ids], ids.length <= SHORT);
  return new Map(projection.shape(rows).map((row) => [table.idOf(row), row]));
}

const byId = finding('= $1');
const byIds = finding('= any($1::bigint[])');

/** Statements that read by id, created once: looking a statement up by its text takes longer the longer the text is. */
function finding(condition: string): <Row>(table: Table<Row>, projection: Projection) => Statement {
  const statements = new WeakMap<Projection, Statement>();
  return (table, projection) => {
    let known = statements.get(projection);
    if (!known) {
      const { columns, from } = projection;
      known = statement(
        `select ${columns} from ${from} where ${columnOf(table, table.idField)} ${condition}`,
      );
      statements.set(projection, known);
    }
    return known;
  };
}

/** Reads one page, in order. */
export async function selectPage<Row>(
  session: Session,
  table: Table<Row>,
  page: PageQuery,
  selection?: Selection,
): Promise<Row[]> {
  const values: unknown[] = [];
  const projection = projectionOf(table, selection, orderOf(table, page.order).field);
  const select = statement(pageStatement(table, projection, page, values));
  const rows = await session.query<Row>(select, values, isShort(page));
  return projection.shape(page.backward ? rows.reverse() : rows);
}

/**
 * Reads the same page for each of many parents, in one statement.
 * @param column name of both the filter (`categoryId`) and the field that hold the parent's id.
 * @returns rows in order, by parent; a parent without rows is missing.
 */
export async function selectPages<Row>(
  session: Session,
  table: Table<Row>,
  column: string,
  parents: readonly bigint[],
  page: PageQuery,
  selection?: Selection,
): Promise<Map<bigint, Row[]>> {
  const values: unknown[] = [parents];
  const projection = projectionOf(table, selection, orderOf(table, page.order).field, column);
  // A lateral join is a nested loop, which preserves the order of each parent's rows.
  const lateral = pageStatement(table, projection, page, values, `${columnOf(table, column)} = parent.id`);
  const text = `select page.* from unnest($1::bigint[]) as parent(id) cross join lateral (${lateral}) as page`;
  const rows = await session.query<Row>(statement(text), values, isShort(page, parents.length));
  const pages = new Map<bigint, Row[]>();
  for (const row of projection.shape(rows)) {
    const parent = row[column as keyof Row] as bigint;
    const known = pages.get(parent);
    if (known) known.push(row);
    else pages.set(parent, [row]);
  }
  if (page.backward) for (const found of pages.values()) found.reverse();
  return pages;
}

/** Counts the rows that match the filters. */
export async function countRows<Row>(session: Session, table: Table<Row>, filters: Filters): Promise<number> {
  const values: unknown[] = [];
  const text = `select count(*)::int as count from ${table.from}${where(conditions(table, filters, values))}`;
  const [row] = await session.query<{ count: number }>(statement(text), values);
  return row?.count ?? 0;
}

/** Counts the rows of each parent that match the filters; a parent without any is missing. */
export async function countRowsByParent<Row>(
  session: Session,
  table: Table<Row>,
  column: string,
  parents: readonly bigint[],
  filters: Filters,
): Promise<Map<bigint, number>> {
  const parent = columnOf(table, column);
  const values: unknown[] = [parents];
  const tests = [`${parent} = any($1::bigint[])`, ...conditions(table, filters, values)];
  const text = `select ${parent} as parent, count(*)::int as count from ${table.from}${where(tests)} group by 1`;
  const rows = await session.query<{ parent: bigint; count: number }>(statement(text), values);
  return new Map(rows.map((row) => [row.parent, row.count]));
}
