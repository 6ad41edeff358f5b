import type { Projection } from './projection';
import { columnOf, type SortOrder, type Table } from './table';

/** Filter values by filter name; `undefined` and null filter nothing. */
export type Filters = Readonly<Record<string, unknown>>;

/** A boundary of a page: the order key and id of the row just outside it. */
export interface Bound {
  readonly key: string;
  readonly id: string;
}

/** A keyset page: rows in one order between two bounds, from the start or (`backward`) from the end. */
export interface PageQuery {
  readonly filters: Filters;
  readonly order: string;
  readonly descending: boolean;
  readonly after?: Bound;
  readonly before?: Bound;
  readonly limit: number;
  readonly backward: boolean;
}

/** Maximum number of rows of a read that other statements may wait for. */
export const SHORT = 500;

/** Whether a page can be read quickly from an index: with a filter, any number of rows may have to be skipped. */
export function isShort({ filters, limit }: PageQuery, parents = 1): boolean {
  return limit * parents <= SHORT && Object.values(filters).every((value) => value == null);
}

/** Builds a page's statement; appends its values, the limit last. */
export function pageStatement<Row>(
  table: Table<Row>,
  { columns, from }: Projection,
  page: PageQuery,
  values: unknown[],
  parent?: string,
): string {
  const order = orderOf(table, page.order);
  const id = columnOf(table, table.idField);
  const tests = conditions(table, page.filters, values);
  if (parent) tests.unshift(parent);

  const bounded = (bound: Bound, operator: '<' | '>') => {
    if (order.expression === id) return `${id} ${operator} ${place(bound.id, values)}::bigint`;
    const key = `${place(bound.key, values)}::${order.column.type}`;
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

export function conditions<Row>(table: Table<Row>, filters: Filters, values: unknown[]): string[] {
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

export function orderOf<Row>(table: Table<Row>, name: string): SortOrder<Row> {
  const order = table.orders[name];
  if (!order) throw new Error(`${table.name} has no order ${name}`);
  return order;
}

function place(value: unknown, values: unknown[]): string {
  values.push(value);
  return `$${values.length}`;
}

export function where(tests: readonly string[]): string {
  return tests.length ? ` where ${tests.join(' and ')}` : '';
}
