import type { Condition, StatementScope } from './statement-scope';
import { type Column, columnOf, type Filter, type Table } from './table';

/** Filter values by filter name. A filter whose value is `undefined` or null is ignored. */
export type Filters = Readonly<Record<string, unknown>>;

/** The conditions of the filters of a list. */
export interface Criteria {
  /**
   * In each entry, `column` must have one of `values`. See `Table.filters` for the indexes that these conditions need.
   */
  readonly equal: readonly { readonly column: Column; readonly values: readonly unknown[] }[];
  /** Limits on the sort key of a sort order. Rows that match such a limit are adjacent in the sort order. */
  readonly limits: readonly { readonly order: string; readonly test: Condition }[];
  /** All other conditions. */
  readonly tests: readonly Condition[];
  /** The number of ids, if the rows are filtered by ids. */
  readonly ids?: number;
  /** Whether the conditions need the table's joins. */
  readonly isJoined: boolean;
}

type Draft = {
  -readonly [Part in keyof Criteria]: Criteria[Part] extends readonly (infer Each)[] ? Each[] : Criteria[Part];
};

/**
 * A search text with at least this many characters matches anywhere in a name. A shorter text matches only the start of a
 * name.
 */
const CONTAINED = 3;

/** @throws Error for filters that the table does not have. */
export function criteriaOf<Row>(table: Table<Row>, filters: Filters): Criteria {
  const unknown = Object.keys(filters).find((name) => filters[name] != null && !table.filters[name]);
  if (unknown) throw new Error(`${table.name} has no filter ${unknown}`);
  const draft: Draft = { equal: [], limits: [], tests: [], isJoined: false };
  for (const [name, filter] of Object.entries(table.filters)) {
    const value = filters[name];
    if (value !== undefined && value !== null) add(draft, table, filter, value);
  }
  return draft;
}

function add<Row>(draft: Draft, table: Table<Row>, filter: Filter, value: unknown): void {
  const all = [...new Set([value].flat())];
  switch (filter.kind) {
    case 'ids':
      draft.ids = all.length;
      draft.tests.push((scope) => `${columnOf(table, table.idField)} = any(${scope.add(all, 'bigint[]')})`);
      break;
    case 'equal':
      draft.equal.push({ column: filter.column, values: all });
      break;
    case 'atMost':
    case 'atLeast': {
      const operator = filter.kind === 'atMost' ? '<=' : '>=';
      draft.limits.push({
        order: filter.order,
        test: (scope) => `${filter.column.sql} ${operator} ${scope.of(filter.column, value)}`,
      });
      break;
    }
    case 'name':
      draft.tests.push(nameTest(filter.column, String(value)));
      break;
    case 'joined':
      draft.isJoined = true;
      draft.tests.push((scope) => scope.among(filter.column, all));
      break;
    default:
      draft.tests.push((scope) => filter.sql.replace('?', scope.of(filter.column, value)));
  }
}

/**
 * The condition that a column contains a search text, ignoring case. PostgreSQL converts both the column and the text to
 * lower case, by the same rules. The trigram index is on the lower-case column.
 */
function nameTest({ sql }: Column, text: string): Condition {
  const pattern = `${[...text].length < CONTAINED ? '' : '%'}${text.replace(/[\\%_]/g, '\\$&')}%`;
  // A text without letters and digits has no case, and the trigram index makes such a search slower (bench/README.md). This
  // condition therefore avoids the index.
  if (isOfSigns(text)) return (scope) => `${sql} like ${scope.add(pattern, 'text')}`;
  const lower = (name: string) => `lower(${name} collate "default") collate "C"`;
  return (scope) => `${lower(sql)} like ${lower(scope.add(pattern, 'text'))}`;
}

function isOfSigns(text: string): boolean {
  return !/[\p{L}\p{M}\p{N}]/u.test(text) && text.toLowerCase() === text.toUpperCase();
}

/** Whether the matching rows form contiguous ranges of an index that has this sort order. */
export function areIntervals({ tests, limits }: Criteria, order: string): boolean {
  return !tests.length && limits.every((limit) => limit.order === order);
}

/** The conditions as SQL. */
export function conditionsOf({ equal, limits, tests }: Criteria, scope: StatementScope): string[] {
  return [
    ...equal.map(({ column, values: all }) => scope.among(column, all)),
    ...limits.map(({ test }) => test(scope)),
    ...tests.map((test) => test(scope)),
  ];
}

export function where(conditions: readonly string[]): string {
  return conditions.length ? ` where ${conditions.join(' and ')}` : '';
}
