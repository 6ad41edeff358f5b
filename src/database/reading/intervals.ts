import { type Criteria, upperBound, where } from './criteria';
import type { Bound } from './selection';
import type { Values } from './statement-values';
import { type Column, columnOf, orderOf, type Table } from './table';

/** The first rows of an order between two bounds. */
export interface Slice {
  readonly order: string;
  readonly low?: Bound;
  readonly high?: Bound;
  /** Whether the largest rows come first. */
  readonly isReverse: boolean;
  readonly limit: number;
}

/** What rows are sorted by: the key, unless it is the id, and the id. */
export function keysOf<Row>(table: Table<Row>, order: string): { keys: readonly string[]; column?: Column } {
  const { expression, column } = orderOf(table, order);
  const id = columnOf(table, table.idField);
  return expression === id ? { keys: [id] } : { keys: [expression, id], column };
}

/** The number of intervals of an index that have the rows: more than one are merged. */
export function intervalsOf({ equal }: Criteria): number {
  return equal.reduce((product, { values }) => product * values.length, 1);
}

/** The conditions that rows are between the bounds of a slice. */
export function boundsOf<Row>(
  table: Table<Row>,
  { order, low, high }: Pick<Slice, 'order' | 'low' | 'high'>,
  values: Values,
): string[] {
  const { keys, column } = keysOf(table, order);
  return [
    ...(low ? [compare(keys, '>', boundValues(low, column, values))] : []),
    ...(high ? [compare(keys, '<', boundValues(high, column, values))] : []),
  ];
}

function boundValues({ key, id }: Bound, column: Column | undefined, values: Values): string[] {
  return [...(column ? [values.of(column, key)] : []), values.add(id, 'bigint')];
}

/**
 * Reads the first rows of a slice by the index that begins with the equal columns and continues with the keys: one interval
 * for each combination of values, merged if there are several.
 *
 * The equal columns are compared as the first columns of a row, and sorted by. With `status = $1 … order by id` the planner
 * FIGURE
 * PostgreSQL reads on beyond the end of a comparison of rows while its first column is equal, so only the first column ends
 * an interval, and the other ends are tested after the limit.
 * @param columns of the table, or any if there is only one of the {@link intervalsOf | intervals}.
 * @param parent the column that equals `parent.id`, if there are parents.
 */
export function readIntervals<Row>(
  table: Table<Row>,
  criteria: Criteria,
  slice: Slice,
  columns: string,
  values: Values,
  parent?: Column,
): string {
  const { name } = table;
  const { order, isReverse, low } = slice;
  const { keys, column } = keysOf(table, order);
  const { sources, leading, starts } = leadingColumns(criteria, values, parent);
  const high = upperBound(criteria, order, slice.high);
  const [from, to] = isReverse ? [high, low] : [low, high];
  const [next, back] = isReverse ? (['<', '>='] as const) : (['>', '<='] as const);

  const tests = from
    ? [compare([...leading, ...keys], next, [...starts, ...boundValues(from, column, values)])]
    : leading.length
      ? [compare(leading, `${next}=`, starts)]
      : [];
  if (leading.length) tests.push(compare(leading.slice(0, 1), back, starts.slice(0, 1)));
  const ends = [
    ...leading.slice(1).map((each, i) => `${each} = ${starts[i + 1]}`),
    ...boundsOf(table, { order, [isReverse ? 'low' : 'high']: to }, values),
  ];
  const limit = ` limit ${slice.limit}`;
  const read = (what: string) =>
    `select ${what} from ${name}${where(tests)}${orderBy([...leading, ...keys], isReverse)}${limit}`;
  const rows = ends.length ? `select ${columns} from (${read(`${name}.*`)}) as ${name}${where(ends)}` : read(columns);
  if (!sources.length) return rows;
  const combinations = sources.join(' cross join ');
  return `select ${name}.* from ${combinations} cross join lateral (${rows}) as ${name}${orderBy(keys, isReverse)}${limit}`;
}

/** The columns that equal a value, these values, and the relations that have the values of a column with several. */
function leadingColumns({ equal }: Criteria, values: Values, parent: Column | undefined) {
  const sources: string[] = [];
  const leading = equal.map(({ column }) => column.sql);
  const starts = equal.map(({ column, values: all }, i) => {
    if (all.length === 1) return values.of(column, all[0]);
    sources.push(`unnest(${values.arrayOf(column, all)}) as equal${i}(value)`);
    return `equal${i}.value`;
  });
  if (parent) {
    leading.unshift(parent.sql);
    starts.unshift('parent.id');
  }
  return { sources, leading, starts };
}

/** Compares a column with a value, or a row of columns with as many values. */
function compare(columns: readonly string[], operator: string, values: readonly string[]): string {
  const row = (list: readonly string[]) => (list.length === 1 ? list.join() : `(${list.join(', ')})`);
  return `${row(columns)} ${operator} ${row(values)}`;
}

/** ` order by` these, the largest rows first if it is in reverse. */
export function orderBy(keys: readonly string[], isReverse: boolean): string {
  return ` order by ${keys.map((key) => key + (isReverse ? ' desc' : '')).join(', ')}`;
}
