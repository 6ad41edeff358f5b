import type { Session } from './database';
import { type Fields, type Projection, projectionOf } from './projection';
import { statement } from './statement';
import type { Table } from './tables';

/** Filter values by the filter's name in the table; `undefined` filters nothing. */
export type Filters = Readonly<Record<string, unknown>>;

/** Where a page starts or ends: the order key and id of the row just outside of it. */
export interface Bound {
  readonly key: string;
  readonly id: string;
}

/** A keyset page: rows of one order between two bounds, from its start or (backward) from its end. */
export interface PageQuery {
  readonly filters: Filters;
  readonly order: string;
  readonly descending: boolean;
  readonly after?: Bound;
  readonly before?: Bound;
  readonly limit: number;
  readonly backward: boolean;
}

/** The rows of `ids` by id; those that are not there are missing from the map. */
export async function selectByIds<Row>(
  session: Session,
  table: Table<Row>,
  ids: readonly bigint[],
  fields?: Fields,
): Promise<Map<bigint, Row>> {
  const projection = projectionOf(table, fields);
  const { columns, from } = projection;
  const id = table.columns[table.idField];
  const [text, value] = ids.length === 1 ? [`${id} = $1`, ids[0]] : [`${id} = any($1::bigint[])`, ids];
  const select = statement(`select ${columns} from ${from} where ${text}`);
  const rows = await session.query<Row>(select, [value], ids.length <= SHORT);
  return new Map(projection.shape(rows).map((row) => [table.idOf(row), row]));
}

/** One page, in its order. */
export async function selectPage<Row>(
  session: Session,
  table: Table<Row>,
  page: PageQuery,
  fields?: Fields,
): Promise<Row[]> {
  const values: unknown[] = [];
  const projection = projectionOf(table, fields, orderOf(table, page.order).field);
  const select = statement(pageOf(table, projection, page, values));
  const rows = await session.query<Row>(select, values, isShort(page));
  return projection.shape(page.backward ? rows.reverse() : rows);
}

/**
 * The same page for each of many parents, in one statement.
 * @param column the filter (`categoryId`) and the field that hold the parent's id.
 * @returns rows in their order by parent; a parent without rows is missing.
 */
export async function selectPages<Row>(
  session: Session,
  table: Table<Row>,
  column: string,
  parents: readonly bigint[],
  page: PageQuery,
  fields?: Fields,
): Promise<Map<bigint, Row[]>> {
  const values: unknown[] = [parents];
  const projection = projectionOf(table, fields, orderOf(table, page.order).field, column);
  // The nested loop that a lateral join is keeps the order of each parent's rows.
  const lateral = pageOf(table, projection, page, values, `${table.columns[column]} = parent.id`);
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

/** How many rows pass the filters. */
export async function countRows<Row>(session: Session, table: Table<Row>, filters: Filters): Promise<number> {
  const values: unknown[] = [];
  const text = `select count(*)::int as count from ${table.from}${where(conditions(table, filters, values))}`;
  const [row] = await session.query<{ count: number }>(statement(text), values);
  return row?.count ?? 0;
}

/** How many rows of each parent pass the filters; a parent without any is missing. */
export async function countRowsByParent<Row>(
  session: Session,
  table: Table<Row>,
  column: string,
  parents: readonly bigint[],
  filters: Filters,
): Promise<Map<bigint, number>> {
  const parent = table.columns[column];
  const values: unknown[] = [parents];
  const tests = [`${parent} = any($1::bigint[])`, ...conditions(table, filters, values)];
  const text = `select ${parent} as parent, count(*)::int as count from ${table.from}${where(tests)} group by 1`;
  const rows = await session.query<{ parent: bigint; count: number }>(statement(text), values);
  return new Map(rows.map((row) => [row.parent, row.count]));
}

/** Rows of a read that may be waited for by others. */
const SHORT = 500;

/** Whether a page is read off an index: a filter may have to pass over any number of rows before it is full. */
function isShort({ filters, limit }: PageQuery, parents = 1): boolean {
  return limit * parents <= SHORT && Object.values(filters).every((value) => value == null);
}

/** The statement of a page; appends its values. */
function pageOf<Row>(
  table: Table<Row>,
  { columns, from }: Projection,
  page: PageQuery,
  values: unknown[],
  parent?: string,
): string {
  const order = orderOf(table, page.order);
  const id = table.columns[table.idField];
  const tests = conditions(table, page.filters, values);
  if (parent) tests.unshift(parent);

  const bounded = (bound: Bound, operator: '<' | '>') => {
    if (order.expression === id) return `${id} ${operator} ${place(bound.id, values)}::bigint`;
    const key = `${place(bound.key, values)}::${order.type}`;
    return `(${order.expression}, ${id}) ${operator} (${key}, ${place(bound.id, values)}::bigint)`;
  };
  if (page.after) tests.push(bounded(page.after, page.descending ? '<' : '>'));
  if (page.before) tests.push(bounded(page.before, page.descending ? '>' : '<'));

  const direction = page.descending === page.backward ? '' : ' desc';
  const keys = order.expression === id ? [id] : [order.expression, id];
  const orderBy = keys.map((key) => key + direction).join(', ');
  const limit = place(page.limit, values);
  return `select ${columns} from ${from}${where(tests)} order by ${orderBy} limit ${limit}`;
}

function conditions<Row>(table: Table<Row>, filters: Filters, values: unknown[]): string[] {
  const tests: string[] = [];
  for (const name in filters) {
    const value = filters[name];
    if (value === undefined || value === null) continue;
    const condition = table.filters[name];
    if (!condition) throw new Error(`${table.name} has no filter ${name}`);
    tests.push(condition.replace('?', place(value, values)));
  }
  return tests;
}

function orderOf<Row>(table: Table<Row>, name: string) {
  const order = table.orders[name];
  if (!order) throw new Error(`${table.name} has no order ${name}`);
  return order;
}

function place(value: unknown, values: unknown[]): string {
  values.push(value);
  return `$${values.length}`;
}

function where(tests: readonly string[]): string {
  return tests.length ? ` where ${tests.join(' and ')}` : '';
}
