import type { Session } from '../database';
import { statementFor } from '../statement';
import { type Criteria, criteriaOf, type Filters } from './criteria';
import { NO_PARENTS, type Parents, parentsOf } from './parents';
import { equalTo, isWalk, testedColumns, walkedTests } from './row-tests';
import { sampleOf, sampleSizeOf } from './sample';
import { searchedRows } from './searched-rows';
import { where } from './slices';
import { Values } from './statement-values';
import { idOrderOf, type Table } from './table';
import { sliceOf, walkOf } from './walk';

/** Maximum number of rows that are counted. */
export const MOST_COUNTED = 10_000;

/** How many rows there are: `count`, or at least so many. */
export interface Total {
  readonly count: number;
  readonly isExact: boolean;
}

/** Shares of a sample: if so many pass, reading on until enough are counted costs less than to search for all. */
const COMMON = 0.15;
/** The same, where a search finds many rows that other columns rule out. */
const COMMON_OF_SOME = 0.05;
/** Minimum number of rows that are tried of each parent. */
const LEAST_SAMPLE = 100;

/** Counts the rows that match the filters. */
export async function countRows<Row>(session: Session, table: Table<Row>, filters: Filters): Promise<Total> {
  const [[, total] = [0n, NOTHING]] = await count(session, table, filters, NO_PARENTS, new Values());
  return total;
}

/** Counts the rows of each parent that match the filters, in one statement; a parent without any may be missing. */
export async function countRowsByParent<Row>(
  session: Session,
  table: Table<Row>,
  field: string,
  ids: readonly bigint[],
  filters: Filters,
): Promise<Map<bigint, Total>> {
  const values = new Values();
  const [parents, others] = parentsOf(table, field, ids, filters, values);
  return new Map(await count(session, table, others, parents, values));
}

export const NOTHING: Total = { count: 0, isExact: true };

/** @param count of rows, of which one more than {@link MOST_COUNTED} says that there are more. */
export function totalOf(count: number): Total {
  return { count: Math.min(count, MOST_COUNTED), isExact: count <= MOST_COUNTED };
}

/** Selects the `count` of one list, of which one more than {@link MOST_COUNTED} says that there are more. */
export function totalSql<Row>(table: Table<Row>, filters: Filters, values: Values, parents = NO_PARENTS): string {
  return `select count from (${countsOf(table, criteriaOf(table, filters), parents, values)}) as counts`;
}

async function count<Row>(
  session: Session,
  table: Table<Row>,
  filters: Filters,
  parents: Parents,
  values: Values,
): Promise<[bigint, Total][]> {
  const criteria = criteriaOf(table, filters);
  const text = countsOf(table, criteria, parents, values);
  const select = statementFor(text, criteria.isPlannedByValues);
  const rows = await session.query<{ parent: bigint; count: number }>(select, values.list);
  return rows.map(({ parent, count }) => [parent, totalOf(count)]);
}

/** Selects `parent, count`, as {@link totalOf} takes it. */
function countsOf<Row>(table: Table<Row>, criteria: Criteria, parents: Parents, values: Values): string {
  const { name, joins = '' } = table;
  const counts = (count: string, more = '') =>
    `select parent.id as parent, ${count} as count from ${parents.rows} as parent(id)${more}`;
  const most = MOST_COUNTED + 1;
  const order = criteria.within?.order ?? idOrderOf(table);
  if (isWalk(criteria, order)) {
    const columns = testedColumns(table, criteria, order);
    // A walk reads on beyond its end, for as many rows as are counted, unless its first column alone ends it.
    const isEnded = criteria.equal.length + (parents.column ? 1 : 0) <= (criteria.within ? 0 : 1);
    const rows = isEnded
      ? walkOf(
          table,
          criteria,
          { order, isReverse: false, isUnordered: true, limit: most },
          columns,
          values,
          parents.column,
        )
      : `select * from (${sliceOf(table, criteria, { order }, columns, values, parents.column)}) as ${name} limit ${most}`;
    return counts(`(select count(*)::int from (${rows}) as ${name})`);
  }
  // Parents share the search, whose limit could leave none to some of them.
  const isOne = parents.count === 1;
  const rows = searchedRows(table, criteria, values, parents);
  const found = isOne
    ? ''
    : `with found as materialized (select parent, count(*)::int as count from (${rows}) as found group by parent)\n`;
  const ofFound = isOne
    ? `(select count(*)::int from (${rows} limit ${most}) as found)`
    : 'coalesce((select count from found where found.parent = parent.id), 0)';
  if (criteria.ids) return found + counts(ofFound);

  const sample = Math.max(LEAST_SAMPLE, Math.floor(sampleSizeOf(table) / parents.count));
  const common = criteria.equal.length && !parents.column ? COMMON_OF_SOME : COMMON;
  const ofParent = parents.column ? [`${parents.column.sql} = parent.id`] : [];
  const tests = [...ofParent, ...equalTo(criteria, values), ...walkedTests(criteria, '', values)];
  // Those that begin with a text are found at no cost but their own.
  const rest = criteria.contained?.elsewhere ?? criteria;
  const passed = `(select count(*)::int from (select from ${name}${joins}${where(tests)} limit ${most}) as passed)`;
  return `${found}${counts(
    `case when size < ${sample} or hits >= ${Math.floor(sample * common)} then ${passed} else ${ofFound} end`,
    ` cross join lateral (${sampleOf(table, rest, values, sample, parents.column)}) as sample`,
  )}`;
}
