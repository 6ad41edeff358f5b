import type { Session } from '../database';
import { statementOrUnnamed } from '../statement';
import { conditionsOf, criteriaOf, type Filters, where } from './criteria';
import { type Parents, parentsOf } from './page-statement';
import { Values } from './statement-values';
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
  const values = new Values(session);
  const select = totalSql(table, filters, values);
  const [row] = await session.query<{ count: number }>(statementOrUnnamed(values.complete(select), true), values.list);
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
  const values = new Values(session);
  const [parents, others] = parentsOf(table, field, ids, filters, values);
  const count = `(select count(*)::int from (${countedRows(table, others, values, parents)}) as counted)`;
  const select = values.complete(`select parent.id, ${count} as count from ${parents.rows} as parent(id)`);
  const rows = await session.query<{ id: bigint; count: number }>(statementOrUnnamed(select, true), values.list);
  return new Map(rows.map(({ id, count }) => [id, totalOf(count)]));
}

export const NOTHING: Total = { count: 0, isExact: true };

/** @param count the number of rows, at most {@link MOST_COUNTED} + 1. */
export function totalOf(count: number): Total {
  return { count: Math.min(count, MOST_COUNTED), isExact: count <= MOST_COUNTED };
}

/** SQL that counts the rows of one list. {@link totalOf} converts its column `count` to a total. */
export function totalSql<Row>(table: Table<Row>, filters: Filters, values: Values, parents?: Parents): string {
  const from = parents ? `${parents.rows} as parent(id) cross join lateral ` : '';
  return `select count(*)::int as count from ${from}(${countedRows(table, filters, values, parents)}) as counted`;
}

/**
 * SQL that selects the rows to count, at most {@link MOST_COUNTED} plus one. The extra row shows that the count is not
 * exact.
 */
function countedRows<Row>(table: Table<Row>, filters: Filters, values: Values, parents: Parents | undefined): string {
  const criteria = criteriaOf(table, filters);
  const ofParent = parents ? [`${parents.column.sql} = parent.id`] : [];
  const conditions = where([...ofParent, ...conditionsOf(criteria, values)]);
  return `select from ${values.from(table)}${criteria.isJoined ? table.joins : ''}${conditions} limit ${MOST_COUNTED + 1}`;
}
