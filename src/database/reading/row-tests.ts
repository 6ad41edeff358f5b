import type { Criteria } from './criteria';
import { keysOf, orderBy } from './slices';
import type { Values } from './statement-values';
import { columnOf, orderOf, type Table } from './table';
import type { Walk } from './walk';

/** Whether intervals of an index have just the rows that are read, in this order. */
export function isWalk({ ids, tests, within }: Criteria, order: string): boolean {
  return !ids && !tests.length && (!within || within.order === order);
}

/** Tests of a walk's rows: of all that no interval of its order's index has. */
export function walkedTests({ within, tests }: Criteria, order: string, values: Values): string[] {
  return [
    ...(within && within.order !== order ? [within.test(values)] : []),
    ...tests.map(({ walked }) => walked(values)),
  ];
}

/** The columns that such tests and the order need: an index may have them all. */
export function testedColumns<Row>(table: Table<Row>, { within, tests }: Criteria, order: string): string {
  const orders = [order, ...(within ? [within.order] : [])].map((name) => orderOf(table, name).column.sql);
  const columns = tests.flatMap(({ column }) => column?.sql ?? []);
  return [...new Set([columnOf(table, table.idField), ...orders, ...columns])].join(', ');
}

export function equalTo({ equal }: Criteria, values: Values): string[] {
  return equal.map(({ column, values: all }) => `${column.sql} = any(${values.allOf(column, all)})`);
}

/** ` order by` the keys of a page's order. */
export function sorted<Row>(table: Table<Row>, { order, isReverse }: Pick<Walk, 'order' | 'isReverse'>): string {
  return orderBy(keysOf(table, order).keys, isReverse);
}
