import { type Column, castTo, columnOf, type Filter, type Table } from '../table';
import { beginningWith, casesOf, type Range, upTo } from './ranges';
import type { Values } from './statement-values';

/** Filter values by filter name; `undefined` and null filter nothing. */
export type Filters = Readonly<Record<string, unknown>>;

/** A condition of SQL, whose values are added to the statement's. */
export type Condition = (values: Values) => string;

/** Which rows are read, by what finds them. */
export interface Criteria {
  /** Columns that have one of these values. With each value they begin an index for each order. */
  readonly equal: readonly { readonly column: Column; readonly values: readonly unknown[] }[];
  /** Ranges of the keys of one order; in another order, a test. */
  readonly within?: { readonly order: string; readonly ranges: readonly Range[]; readonly test: Condition };
  /** Tests of single rows: `walked` costs least by row, `searched` may be served by an index. */
  readonly tests: readonly { readonly column?: Column; readonly walked: Condition; readonly searched: Condition }[];
  /** Only rows with these ids: so few that they are read before anything else is looked at. */
  readonly ids?: { readonly count: number; readonly test: Condition };
  /** Whether only the planner knows which index serves the tests: by the values. */
  readonly isPlannedByValues: boolean;
}

type Found = {
  -readonly [Part in keyof Criteria]: Criteria[Part] extends readonly (infer Each)[] ? Each[] : Criteria[Part];
};

/** The number of characters from which on a text has trigrams to be found by. */
const CONTAINED = 3;

/** @throws Error for filters that the table does not have. */
export function criteriaOf<Row>(table: Table<Row>, filters: Filters): Criteria {
  const unknown = Object.keys(filters).find((name) => filters[name] != null && !table.filters[name]);
  if (unknown) throw new Error(`${table.name} has no filter ${unknown}`);
  const found: Found = { equal: [], tests: [], isPlannedByValues: false };
  for (const [name, filter] of Object.entries(table.filters)) {
    const value = filters[name];
    if (value !== undefined && value !== null) add(found, table, filter, value);
  }
  return found;
}

function add<Row>(found: Found, table: Table<Row>, filter: Filter, value: unknown): void {
  const id = columnOf(table, table.idField);
  switch (filter.kind) {
    case 'ids':
      found.ids = {
        count: [value].flat().length,
        test: (values) => `${id} = any(${values.add(value, '::bigint[]')})`,
      };
      break;
    case 'equal':
      found.equal.push({ column: filter.column, values: [...new Set(Array.isArray(value) ? value : [value])] });
      break;
    case 'atMost':
      found.within = {
        order: filter.order,
        ranges: [upTo(Number(value))],
        test: (values) => `${filter.column.sql} <= ${values.add(value, castTo(filter.column))}`,
      };
      break;
    case 'name':
      addName(found, filter.column, filter.order, String(value));
      break;
    case 'joined':
      addTest(found, (values) => {
        // The planner does not know what an array's cast to an enumeration gives.
        const list = [value].flat().map((each) => values.add(each, castTo(filter.column)));
        return list.length ? `${filter.column.sql} in (${list.join(', ')})` : 'false';
      });
      break;
    default:
      addTest(found, (values) => filter.sql.replace('?', values.add(value, castTo(filter.column))), filter.column);
  }
}

function addTest(found: Found, test: Condition, column?: Column): void {
  found.tests.push({ column, walked: test, searched: test });
  found.isPlannedByValues = true;
}

function addName(found: Found, column: Column, order: string, text: string): void {
  const { length } = [...text];
  if (length === 0) return;
  if (length < CONTAINED) {
    const starts = casesOf(text);
    found.within = {
      order,
      ranges: starts.map(beginningWith),
      test: (values) => `left(${column.sql}, ${length}) = any(${values.allOf(column, starts)})`,
    };
    return;
  }
  // A value inside of a subquery is unknown to the planner: whatever it is, the plan is the one for a rare text.
  const pattern = `%${text.replace(/[\\%_]/g, '\\$&')}%`;
  found.tests.push({
    column,
    walked: (values) =>
      `lower(${column.sql} collate "default") like (select lower(${values.add(pattern, '::text')} collate "default"))`,
    searched: (values) => `(${column.sql} collate "default") ilike ${values.of(column, pattern)}`,
  });
}
