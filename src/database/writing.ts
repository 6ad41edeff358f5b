import { createHash } from 'node:crypto';
import type { Session } from './database';
import { Values } from './reading/statement-values';
import { type Column, columnOf, readWithRow, type Table } from './reading/table';
import { statement } from './statement';

/**
 * SQL for writes that Prisma's models cannot express, and for frequent writes, which cost less CPU time with this SQL.
 * All other writes use Prisma's models.
 */

// Arbitrary numbers, which must be the same on all instances. They must differ from 72707369, which migrations use.
const GLOBAL_LOCKS = { apiKeys: 72707370n, cleaning: 72707372n, numbering: 72707373n };
const LOCK = statement('select pg_advisory_xact_lock($1::bigint)::text');
const TRY_LOCK = statement('select pg_try_advisory_xact_lock($1::bigint) as "isMine"');

/** Columns of one table, by field name. */
type Columns = Record<string, { readonly sql: string; readonly type: string }>;

/** Locks rows of a table and reads them. */
interface RowLock<Row> {
  /** @returns the SQL, whose first parameter is the ids. */
  sqlFor(values: Values): string;
  /** Never set; only declares the type of the rows. */
  readonly row?: Row;
}

/**
 * A lock does not find rows that the session does not see.
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
    sqlFor(values) {
      let sql = known.get(values.visibilityKind);
      if (sql === undefined) {
        sql = `select ${read} from ${values.from(table)} where ${id} = any($1::bigint[]) order by ${id} for ${strength}`;
        known.set(values.visibilityKind, sql);
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
  const values = new Values(transaction);
  values.list.push(ids);
  return transaction.query<Row>(statement(values.complete(lock.sqlFor(values))), values.list);
}

/** Locks a row until the transaction ends. @returns the row, if it exists. */
export async function lockRow<Row>(transaction: Session, lock: RowLock<Row>, id: bigint): Promise<Row | undefined> {
  const [row] = await lockRows(transaction, lock, [id]);
  return row;
}

/** Kinds of work that only one transaction may do at a time, across all instances. */
type Exclusive = keyof typeof GLOBAL_LOCKS;

/** Waits for the lock on this kind of work, and holds it until the transaction ends. */
export async function lock(transaction: Session, what: Exclusive): Promise<void> {
  await transaction.query(LOCK, [GLOBAL_LOCKS[what]]);
}

/**
 * Tries to take the lock on a kind of work, or on a text, and holds it until the transaction ends.
 * @returns false, without waiting, if another transaction holds the lock.
 */
export async function tryLock(transaction: Session, what: Exclusive | { text: string }): Promise<boolean> {
  const number = typeof what === 'string' ? GLOBAL_LOCKS[what] : hashOf(what.text);
  const [locked] = await transaction.query<{ isMine: boolean }>(TRY_LOCK, [number]);
  return locked?.isMine === true;
}

/** A cryptographic hash, so that no caller can choose a text that collides with another caller's text. */
function hashOf(text: string): bigint {
  return createHash('sha256').update(text).digest().readBigInt64BE();
}

/**
 * The parts of an INSERT statement for one row. The parameters of the statement are the values of the columns, in the order
 * of `fields`. The database stores them unchanged, so the statement need not return them.
 */
export function newRow<Given extends Columns>(columns: Given) {
  const fields = Object.keys(columns) as (keyof Given & string)[];
  const entries = fields.map((field, i) => [field, `$${i + 1}::${columns[field]?.type}`]);
  const parameters: { readonly [field in keyof Given]: string } = Object.fromEntries(entries);
  return {
    fields,
    parameters,
    columns: fields.map(
      (field) => [nameOf(columns[field] as Columns[string]), columns[field]?.type as string] as const,
    ),
    names: fields.map((field) => nameOf(columns[field] as Columns[string])).join(', '),
    values: fields.map((field) => parameters[field]).join(', '),
  };
}

/** The name of the foreign key of a column: the default of PostgreSQL and Prisma, which migrations must keep. */
export function foreignKeyOf({ sql }: Pick<Columns[string], 'sql'>): string {
  return `${sql.replace('.', '_')}_fkey`;
}

function selected(columns: Columns): string {
  return Object.entries(columns)
    .map(([field, { sql }]) => `${sql} as "${field}"`)
    .join(', ');
}

/** The name of a column without its table: `category_id` for `pets.category_id`. */
function nameOf({ sql }: Columns[string]): string {
  return sql.slice(sql.indexOf('.') + 1);
}
