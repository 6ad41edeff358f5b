import type { Criteria } from './criteria';
import { compare, edgesOf, keysOf, orderBy, type Slice, testsOf, where } from './slices';
import type { Values } from './statement-values';
import type { Column, Table } from './table';

/** Rows of an order, from one of its ends. */
export interface Walk extends Slice {
  /** Whether the largest rows come first. */
  readonly isReverse: boolean;
  readonly limit: number;
  /** Tests that the rows pass besides. */
  readonly passing?: readonly string[];
  /** Whether the rows may come in any order. */
  readonly isUnordered?: boolean;
}

/** The number of intervals of an index that have the rows: more than one are merged. */
export function intervalsOf({ equal, within }: Criteria, order: string): number {
  const ranges = within?.order === order ? within.ranges.length : 1;
  return equal.reduce((product, { values }) => product * values.length, ranges);
}

/** Less than every key of its kind. */
const LEAST: { readonly [kind in Column['kind']]?: string } = {
  text: "''",
  integer: '-2147483648',
  timestamp: "'-infinity'",
  date: "'-infinity'",
};

/**
 * Reads rows in order, by the intervals of one index that begins with the equal columns: of each combination of values and
 * ranges no more than wanted. The values are hidden from the planner, and it must not choose a shorter index whose
 * rows it filters, nor a longer one whose rows it sorts. So
 * - equal columns are bounds as the others are: as constants, they would make the order that of other indexes too;
 * - the bound is one of whole rows, of which the planner expects many;
 * - where a walk ends is tested after the limit, but for the first column: PostgreSQL reads on beyond a bound of whole rows
 *   as long as its first column is equal.
 * @param columns of the table, or if there is only one of the {@link intervalsOf | intervals}, any.
 * @param parent the column that equals `parent.id`, if there are parents.
 */
export function walkOf<Row>(
  table: Table<Row>,
  criteria: Criteria,
  walk: Walk,
  columns: string,
  values: Values,
  parent?: Column,
): string {
  const { keys, column } = keysOf(table, walk.order);
  const { name } = table;
  const { sources, leading, starts, equals } = leadingOf(criteria, values, parent);
  const { low, high } = edgesOf(criteria, walk, column, values, sources);
  const all = [...leading, ...keys];
  const { isReverse } = walk;
  const [from, to] = isReverse ? [high, low] : [low, high];
  const least = leading.length ? [...(column ? [LEAST[column.kind] ?? ''] : []), '0'] : undefined;
  const afterLeast = least ? [compare(all, '>', [...starts, ...least])] : [];
  const first = (operator: '<=' | '>=') =>
    leading.length ? [compare(leading.slice(0, 1), operator, starts.slice(0, 1))] : [];
  const tests = isReverse
    ? [
        ...(from ? [compare(all, '<', [...starts, ...from])] : leading.length ? [compare(leading, '<=', starts)] : []),
        ...(leading.length > 1 ? first('>=') : afterLeast),
      ]
    : [...(from ? [compare(all, '>', [...starts, ...from])] : afterLeast), ...first('<=')];
  const { passing } = walk;
  // One that passes over rows has no limit to end it.
  const interval = [...equals, ...testsOf(keys, { low, high })];
  const limit = ` limit ${walk.limit}`;
  const read = (what: string) =>
    `select ${what} from ${name}${where(passing && to ? interval : tests)}${orderBy(all, isReverse)}`;
  const ending = [...equals.slice(1), ...testsOf(keys, isReverse ? { low: to } : { high: to })];
  const rows = passing
    ? `select ${columns} from (${read(`${name}.*`)} offset 0) as ${name}${table.joins ?? ''}${where([...ending, ...passing])}${table.joins ? orderBy(keys, isReverse) : ''}${limit}`
    : ending.length
      ? `select ${columns} from (${read(`${name}.*`)}${limit}) as ${name}${where(ending)}`
      : read(columns) + limit;
  if (!sources.length) return rows;
  const merged = `select ${name}.* from ${sources.join(' cross join ')} cross join lateral (${rows}) as ${name}`;
  return merged + (walk.isUnordered ? '' : orderBy(keys, isReverse)) + limit;
}

/** Reads all rows of a slice, in any order, by the same intervals. */
export function sliceOf<Row>(
  table: Table<Row>,
  criteria: Criteria,
  slice: Slice,
  columns: string,
  values: Values,
  parent?: Column,
): string {
  const { keys, column } = keysOf(table, slice.order);
  const { sources, equals } = leadingOf(criteria, values, parent);
  const bounds = testsOf(keys, edgesOf(criteria, slice, column, values, sources));
  // Behind `offset 0` it is planned by itself: joined with the sources, the planner tests columns that an index has.
  const rows = `select ${columns} from ${table.name}${where([...equals, ...bounds])} offset 0`;
  if (!sources.length) return rows;
  return `select ${table.name}.* from ${sources.join(' cross join ')} cross join lateral (${rows}) as ${table.name}`;
}

/**
 * The columns that are equal to a value, their values, the tests that they are, and the relations that have the values of
 * which there are several.
 */
function leadingOf({ equal }: Criteria, values: Values, parent: Column | undefined) {
  const sources: string[] = [];
  const leading = equal.map(({ column }) => column.sql);
  const starts = equal.map(({ column, values: all }, i) => {
    if (all.length === 1) return values.of(column, all[0]);
    sources.push(`unnest(${values.allOf(column, all)}) as equal${i}(value)`);
    return `equal${i}.value`;
  });
  if (parent) {
    leading.unshift(parent.sql);
    starts.unshift('parent.id');
  }
  return { sources, leading, starts, equals: leading.map((each, i) => `${each} = ${starts[i]}`) };
}
