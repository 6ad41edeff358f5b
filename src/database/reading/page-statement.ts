import type { Statement } from '../database';
import { areIntervals, type Criteria, conditionsOf, criteriaOf, type Filters, where } from './criteria';
import type { Projection } from './projection';
import type { Bound, PageQuery } from './selection';
import type { StatementScope } from './statement-scope';
import { type Column, columnOf, orderOf, type Table } from './table';

/** The SQL of a read, and how to run it. */
export interface ReadSql {
  /** SQL that selects the rows in the order of the result. */
  readonly sql: string;
  /** Whether the statement reads only a few rows through an index. Such a read may run on a shared connection. */
  readonly isShort: boolean;
  readonly isPlannedByValues: boolean;
  /** The statement for `sql`, if it already exists. */
  readonly statement?: Statement;
}

/** Maximum number of rows of a read on a shared connection. */
export const SHORT = 500;

/**
 * The parent rows for which a statement reads one page each. SQL refers to the parents as the relation `parent(id)`.
 * `column` is the column of the list's table that contains the id of the parent.
 */
export interface Parents {
  /** SQL that selects the ids: `unnest($1::bigint[])`. */
  readonly rows: string;
  readonly count: number;
  readonly column: Column;
}

/**
 * Returns the parents, and the filters on the rows of their pages. A filter on the parent's id is removed from the filters,
 * and applied to the parents instead.
 * @param field the field that contains the id of the parent.
 */
export function parentsOf<Row>(
  table: Table<Row>,
  field: string,
  ids: readonly bigint[],
  filters: Filters,
  scope: StatementScope,
): [Parents, Filters] {
  const sql = columnOf(table, field);
  const column = table.columns[field] as Column;
  let some = ids;
  const others = Object.entries(filters).filter(([name, value]) => {
    const filter = table.filters[name];
    if (value == null || filter?.kind !== 'equal' || filter.column.sql !== sql) return true;
    const wanted = new Set([value].flat());
    some = some.filter((id) => wanted.has(id));
    return false;
  });
  const rows = `unnest(${scope.add(some, 'bigint[]')})`;
  return [{ rows, count: Math.max(1, some.length), column }, Object.fromEntries(others)];
}

/**
 * Whether an index returns the rows of a page in order. Reading such a page is cheap enough to be repeated for many parents.
 */
export function isReadInOrder<Row>(table: Table<Row>, { filters, order }: PageQuery): boolean {
  return areIntervals(criteriaOf(table, filters), order);
}

/** SQL that reads a page. With `parents`, it selects rows that refer to `parent.id` of the surrounding statement. */
export function pageStatement<Row>(
  table: Table<Row>,
  { columns, joins }: Pick<Projection, 'columns' | 'joins'>,
  page: PageQuery,
  scope: StatementScope,
  parents?: Parents,
): ReadSql {
  const { name } = table;
  const criteria = criteriaOf(table, page.filters);
  const order = new Order(table, page, scope);
  const isShort = (most: number) => most * (parents?.count ?? 1) <= SHORT;

  if (!areIntervals(criteria, page.order)) {
    // A subquery selects only the ids, so that an index-only scan suffices if an index has all filtered columns. With
    // all columns, pages far down the order would take longer (bench/README.md).
    const found = searchedIds(table, criteria, page, order, scope, parents);
    const id = columnOf(table, table.idField);
    const sql = `select ${columns} from (${found}) as found join ${scope.from(table)} on ${id} = found.id${joins}${order.sql}`;
    return { sql, isShort: isShort(criteria.ids ?? Infinity), isPlannedByValues: criteria.ids === undefined };
  }
  const intervals = criteria.equal.reduce((product, each) => product * each.values.length, 1);
  const read = (what: string) => intervalRows(table, criteria, page, what, order, scope, parents);
  const isFlat = !joins && intervals === 1 && !order.ends.length;
  return {
    // A join does not always preserve the order, so the outer query sorts again.
    sql: isFlat
      ? read(columns)
      : `select ${columns} from (${read(`${name}.*`)}) as ${name}${joins}${where(order.ends)}${order.sql}`,
    isShort: isShort(page.limit * intervals),
    isPlannedByValues: false,
  };
}

/** The order in which rows are read: the order of the list, or its reverse if the page is read backward. */
class Order<Row> {
  /** The sort expressions: the order's key and then the id, or only the id if the list is sorted by id. */
  readonly keys: readonly string[];
  /** Conditions that select the rows after the bound at which reading starts. */
  readonly starts: readonly string[];
  /**
   * Conditions that select the rows before the bound at which reading ends. When ranges of an index are scanned, the outer
   * query applies these conditions. PostgreSQL would not stop the scan at a bound of two columns, but read all rows with the
   * same first column.
   */
  readonly ends: readonly string[];
  private readonly suffix: '' | ' desc';

  constructor(table: Table<Row>, { order, descending, backward, after, before }: PageQuery, scope: StatementScope) {
    const { expression, column } = orderOf(table, order);
    const id = columnOf(table, table.idField);
    const isById = expression === id;
    this.keys = isById ? [id] : [expression, id];
    this.suffix = descending === backward ? '' : ' desc';
    const compare = (bound: Bound | undefined, operator: string) => {
      if (!bound) return [];
      const bounds = [...(isById ? [] : [scope.of(column, bound.key)]), scope.add(bound.id, 'bigint')];
      return [`(${this.keys.join(', ')}) ${operator} (${bounds.join(', ')})`];
    };
    const [next, previous] = this.suffix ? ['<', '>'] : ['>', '<'];
    this.starts = compare(backward ? before : after, next);
    this.ends = compare(backward ? after : before, previous);
  }

  get sql(): string {
    return this.by(this.keys);
  }

  /** The ORDER BY clause for these keys. */
  by(keys: readonly string[]): string {
    return ` order by ${keys.map((key) => key + this.suffix).join(', ')}`;
  }
}

/**
 * SQL that reads the first rows of one or more ranges of an index. The index has the page's sort order. A filter with several
 * values has one range for each value. Each range is read up to the limit, and the results are merged. With the condition
 * `in ($1, $2)`, PostgreSQL would read and sort all matching rows.
 *
 * The planner chooses this index only if `random_page_cost` is low. The gateway lowers it, except behind a pooler. With the
 * default of 4, the planner scans the whole table by id to find a page of rows with a rare status.
 */
function intervalRows<Row>(
  table: Table<Row>,
  criteria: Criteria,
  { limit }: PageQuery,
  columns: string,
  order: Order<Row>,
  scope: StatementScope,
  parents: Parents | undefined,
): string {
  const { name } = table;
  const several = criteria.equal.filter((each) => each.values.length !== 1);
  const single = { ...criteria, equal: criteria.equal.filter((each) => each.values.length === 1) };
  const conditions = [
    ...ofParent(parents),
    ...several.map(({ column }, i) => `${column.sql} = equal${i}.value`),
    ...conditionsOf(single, scope),
    ...order.starts,
  ];
  const rows = `select ${columns} from ${scope.from(table)}${where(conditions)}${order.sql} limit ${limit}`;
  if (!several.length) return rows;
  const sources = several.map((each, i) => `unnest(${scope.arrayOf(each.column, each.values)}) as equal${i}(value)`);
  return `select ${name}.* from ${sources.join(' cross join ')} cross join lateral (${rows}) as ${name}${order.sql} limit ${limit}`;
}

function ofParent(parents: Parents | undefined): string[] {
  return parents ? [`${parents.column.sql} = parent.id`] : [];
}

/**
 * If at most this many rows match, all matching rows are read and then sorted. The limit for joined rows is lower, since
 * joined rows take longer to read.
 */
const FEW = 100_000;
const FEW_JOINED = 3_000;

/** SQL that selects the ids of a page's rows as `id`. The planner chooses the indexes. */
function searchedIds<Row>(
  table: Table<Row>,
  criteria: Criteria,
  { limit }: PageQuery,
  order: Order<Row>,
  scope: StatementScope,
  parents: Parents | undefined,
): string {
  const from = scope.from(table) + (criteria.isJoined ? table.joins : '');
  const conditions = [...ofParent(parents), ...conditionsOf(criteria, scope), ...order.starts, ...order.ends];
  const [key, id] = order.keys;
  const first = (tests: readonly string[]) =>
    `select ${id ?? key} as id from ${from}${where(tests)}${order.sql} limit ${limit}`;
  // The planner assumes that matching rows are spread evenly over the sort order. When sorting by id, this is true.
  if (!id || parents || criteria.ids !== undefined) return first(conditions);

  // In other sort orders, matching rows may be close together, such as names that contain a word, or rows of a joined table.
  // A scan from the start of the sort order may reach them late. So if only few rows match, all matching rows are read and
  // then sorted. Otherwise a rare word would make a list scan most of the table.
  const few = criteria.isJoined ? FEW_JOINED : FEW;
  const matching = `select ${key} as key, ${id} as id from ${from}${where(conditions)} limit ${few + 1}`;
  return `with matching as materialized (${matching}),
counted as materialized (select count(*) <= ${few} as is_few from matching)
(select id from matching where (select is_few from counted)${order.by(['key', 'id'])} limit ${limit})
union all (${first([...conditions, 'not (select is_few from counted)'])})`;
}
