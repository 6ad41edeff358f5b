import { type Containing, containing } from './containing';
import { beginningWith, casesOf, type Range, upTo } from './ranges';
import type { Condition } from './statement-values';
import { type Column, castTo, columnOf, type Filter, type Table } from './table';

/** Filter values by filter name; `undefined` and null filter nothing. */
export type Filters = Readonly<Record<string, unknown>>;

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
  /**
   * The rows that contain a text, which `tests` have all, in two: `beginning` with it, which are ranges of an order, or with
   * the text `elsewhere`, for which there is an index.
   */
  readonly contained?: { readonly beginning: Criteria; readonly elsewhere: Criteria };
  /** Whether only the planner knows which index serves the tests: by the values. */
  readonly isPlannedByValues: boolean;
}

type Found = {
  -readonly [Part in keyof Criteria]: Criteria[Part] extends readonly (infer Each)[] ? Each[] : Criteria[Part];
} & { text?: Containing & { readonly order: string } };

/** The number of characters from which on a text has trigrams to be found by. */
const CONTAINED = 3;

/** Maximum number of ranges of an index that are read for each parent. With more, a text's are, and the rest is tested. */
const MOST_RANGES = 1_000;

/** @throws Error for filters that the table does not have. */
export function criteriaOf<Row>(table: Table<Row>, filters: Filters): Criteria {
  const unknown = Object.keys(filters).find((name) => filters[name] != null && !table.filters[name]);
  if (unknown) throw new Error(`${table.name} has no filter ${unknown}`);
  const found: Found = { equal: [], tests: [], isPlannedByValues: false };
  for (const [name, filter] of Object.entries(table.filters)) {
    const value = filters[name];
    if (value !== undefined && value !== null) add(found, table, filter, value);
  }
  const { text, ...others } = found;
  return text ? withText(others, text) : others;
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
  found.text = { ...containing(column, text), order };
}

function withText(
  others: Criteria,
  { column, order, contains, begins, ranges, elsewhere }: Containing & { order: string },
): Criteria {
  const { tests, within, equal } = others;
  const test = (walked: Condition, searched = walked) => ({ column, walked, searched });
  const all = { ...others, tests: [...tests, test(contains)] };
  if (others.ids) return all;
  const isFew = equal.reduce((product, { values }) => product * values.length, ranges.length) <= MOST_RANGES;
  const ranged = isFew ? others : tested(others);
  const bounded = within ? [{ walked: within.test, searched: within.test }] : [];
  return {
    ...all,
    contained: {
      beginning: {
        ...ranged,
        within: { order, ranges, test: begins },
        tests: [...ranged.tests, ...bounded, test(begins)],
      },
      elsewhere: { ...others, tests: [...tests, test(elsewhere.walked, elsewhere.searched)] },
    },
  };
}

/** The same rows, whose equal values are tests instead of intervals of an index. */
function tested({ equal, tests, ...others }: Criteria): Criteria {
  const ofEqual = equal.map(({ column, values: wanted }) => {
    const test: Condition = (values) => `${column.sql} = any(${values.allOf(column, wanted)})`;
    return { column, walked: test, searched: test };
  });
  return { ...others, equal: [], tests: [...tests, ...ofEqual] };
}
