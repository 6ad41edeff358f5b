import type { Session } from '../database';
import { statementOrUnnamed } from '../statement';
import { conditionsOf, criteriaOf, type Filters, where } from './criteria';
import { type Parents, parentsOf } from './page-statement';
import { StatementScope } from './statement-scope';
import type { Table } from './table';

/** Maximum number of rows that are counted. */
export const MOST_COUNTED = 10_000;

/** A number of rows. If `isExact` is false, there are more than `count` rows. */
export interface Total {
  readonly count: number;
  readonly isExact: boolean;
}

/** Counts the rows that match the filters. */
export async function countRows<Row>(session: Session, table: Table<Row>, filters: Filters): Promise<Total> {
  const scope = new StatementScope(session);
  const select = totalSql(table, filters, scope);
  const [row] = await session.query<{ count: number }>(statementOrUnnamed(scope.complete(select), true), scope.values);
  return totalOf(row?.count ?? 0);
}

/** Counts the matching rows of each parent, in one statement. Parents without matching rows may be missing from the map. */
export async function countRowsByParent<Row>(
  session: Session,
  table: Table<Row>,
  field: string,
  ids: readonly bigint[],
  filters: Filters,
): Promise<Map<bigint, Total>> {
  const scope = new StatementScope(session);
  const [parents, others] = parentsOf(table, field, ids, filters, scope);
  const count = `(select count(*)::int from (${countedRows(table, others, scope, parents)}) as counted)`;
  const select = scope.complete(`select parent.id, ${count} as count from ${parents.rows} as parent(id)`);
  const rows = await session.query<{ id: bigint; count: number }>(statementOrUnnamed(select, true), scope.values);
  return new Map(rows.map(({ id, count }) => [id, totalOf(count)]));
}

export const NOTHING: Total = { count: 0, isExact: true };

/** @param count the number of rows, at most {@link MOST_COUNTED} + 1. */
export function totalOf(count: number): Total {
  return { count: Math.min(count, MOST_COUNTED), isExact: count <= MOST_COUNTED };
}

/** SQL that counts the rows of one list. {@link totalOf} converts its column `count` to a total. */
export function totalSql<Row>(table: Table<Row>, filters: Filters, scope: StatementScope, parents?: Parents): string {
  const from = parents ? `${parents.rows} as parent(id) cross join lateral ` : '';
  return `select count(*)::int as count from ${from}(${countedRows(table, filters, scope, parents)}) as counted`;
}

/**
 * SQL that selects the rows to count, at most {@link MOST_COUNTED} plus one. The extra row shows that the count is not
 * exact.
 */
function countedRows<Row>(
  table: Table<Row>,
  filters: Filters,
  scope: StatementScope,
  parents: Parents | undefined,
): string {
  const criteria = criteriaOf(table, filters);
  const ofParent = parents ? [`${parents.column.sql} = parent.id`] : [];
  const conditions = where([...ofParent, ...conditionsOf(criteria, scope)]);
  return `select from ${scope.from(table)}${criteria.isJoined ? table.joins : ''}${conditions} limit ${MOST_COUNTED + 1}`;
}
