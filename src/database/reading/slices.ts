import type { Criteria } from './criteria';
import { type Bound, between, type Range } from './ranges';
import type { Values } from './statement-values';
import { type Column, columnOf, orderOf, type Table } from './table';

/** Some rows of an order. */
export interface Slice {
  readonly order: string;
  /** The bounds that the rows are between. */
  readonly low?: Bound;
  readonly high?: Bound;
}

/** The values of the key and the id, or of the id alone, at either bound, in SQL. */
interface Edges {
  readonly low?: readonly string[];
  readonly high?: readonly string[];
}

/** What rows are sorted by: the key, unless it is the id, and the id. */
export function keysOf<Row>(table: Table<Row>, order: string): { keys: readonly string[]; column?: Column } {
  const { expression, column } = orderOf(table, order);
  const id = columnOf(table, table.idField);
  return expression === id ? { keys: [id] } : { keys: [expression, id], column };
}

/** The bounds of a slice of the rows that match: values, or if there are several ranges columns of a source, which is added. */
export function edgesOf(
  { within }: Criteria,
  { order, low, high }: Slice,
  column: Column | undefined,
  values: Values,
  sources: string[],
): Edges {
  if (!column || within?.order !== order) return edge({ low, high }, column, values);
  const ranges = within.ranges.map((range) => between(range, low, high, column));
  const [first] = ranges;
  if (first && ranges.length === 1) return edge(first, column, values);
  const all = (end: keyof Range) => {
    const bounds = ranges.map((range) => range[end]);
    const ids = bounds.map((bound) => bound?.id);
    return `${values.allOf(
      column,
      bounds.map((bound) => bound?.key),
    )}, ${values.add(ids, '::bigint[]')}`;
  };
  sources.push(`unnest(${all('low')}, ${all('high')}) as range(low, low_id, high, high_id)`);
  return { low: ['range.low', 'range.low_id'], high: ['range.high', 'range.high_id'] };
}

function edge({ low, high }: Range, column: Column | undefined, values: Values): Edges {
  const of = (bound: Bound | undefined) =>
    bound && [...(column ? [values.of(column, bound.key)] : []), values.hidden(bound.id, '::bigint')];
  return { low: of(low), high: of(high) };
}

/** The tests that rows are within a slice. */
export function testsOf(keys: readonly string[], { low, high }: Edges): string[] {
  return [...(low ? [compare(keys, '>', low)] : []), ...(high ? [compare(keys, '<', high)] : [])];
}

/** Compares two rows of as many values. */
export function compare(
  columns: readonly string[],
  operator: '<' | '<=' | '>' | '>=',
  values: readonly string[],
): string {
  const row = (list: readonly string[]) => (list.length === 1 ? list.join() : `(${list.join(', ')})`);
  return `${row(columns)} ${operator} ${row(values)}`;
}

/** ` order by` these, the largest rows first if it is in reverse. */
export function orderBy(keys: readonly string[], isReverse: boolean): string {
  return ` order by ${keys.map((key) => key + (isReverse ? ' desc' : '')).join(', ')}`;
}

export function where(tests: readonly string[]): string {
  return tests.length ? ` where ${tests.join(' and ')}` : '';
}
