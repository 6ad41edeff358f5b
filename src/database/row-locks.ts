import type { Session } from './database';
import { StatementScope } from './reading/statement-scope';
import { type Column, columnOf, readWithRow, type Table } from './reading/table';
import { statement } from './statement';

/** Columns of one table, by field name. */
type Columns = Readonly<Record<string, Pick<Column, 'sql'>>>;

/** Locks rows of a table and reads them. */
interface RowLock<Row> {
  /** @returns the SQL, whose first parameter is the ids. */
  sqlFor(scope: StatementScope): string;
  /** Never set; only declares the type of the rows. */
  readonly row?: Row;
}

/**
 * Declares a lock on rows of a table. The lock does not find rows that the session does not see.
 * @param strength the mode of the row locks (PostgreSQL documentation, 13.3.2).
 * @param columns the columns to read, in addition to the computed fields; by default the columns of the table.
 */
export function rowLock<Row>(
  table: Pick<Table<never>, 'name' | 'idField' | 'owner' | 'columns' | 'computed'>,
  strength: 'update' | 'no key update',
  columns: Columns = table.columns,
): RowLock<Row> {
  const id = columnOf(table, table.idField);
  const computed = readWithRow(table).map((name) => [name, table.computed?.[name] as Column]);
  const read = selected({ ...columns, ...Object.fromEntries(computed) });
  const known = new Map<string, string>();
  return {
    sqlFor(scope) {
      let sql = known.get(scope.visibilityKind);
      if (sql === undefined) {
        sql = `select ${read} from ${scope.from(table)} where ${id} = any($1::bigint[]) order by ${id} for ${strength}`;
        known.set(scope.visibilityKind, sql);
      }
      return sql;
    },
  };
}

/**
 * Locks rows until the transaction ends. The rows are locked in the order of their ids, so two calls never deadlock with
 * each other.
 * @returns the existing rows. Rows that are inserted later are not locked.
 */
export function lockRows<Row>(transaction: Session, lock: RowLock<Row>, ids: readonly bigint[]): Promise<Row[]> {
  const scope = new StatementScope(transaction);
  scope.values.push(ids);
  return transaction.query<Row>(statement(scope.complete(lock.sqlFor(scope))), scope.values);
}

/** Locks a row until the transaction ends. @returns the row, if it exists. */
export async function lockRow<Row>(transaction: Session, lock: RowLock<Row>, id: bigint): Promise<Row | undefined> {
  const [row] = await lockRows(transaction, lock, [id]);
  return row;
}

function selected(columns: Columns): string {
  return Object.entries(columns)
    .map(([field, { sql }]) => `${sql} as "${field}"`)
    .join(', ');
}
