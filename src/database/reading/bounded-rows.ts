import type { Session, Statement } from '../database';
import { statementFor } from '../statement';

/** The rows of a statement exceed their maximum size. */
export class TooManyBytes extends Error {}

/** A query and how to run it. */
export interface Query {
  /** SQL that selects the rows in the order of the result. */
  readonly rows: string;
  /** Whether the query reads only a few rows through an index. Such a query may run on a shared connection. */
  readonly isShort: boolean;
  readonly isPlannedByValues: boolean;
  /** The statement for `rows`, if it already exists. */
  readonly statement?: Statement;
}

/**
 * Reads rows, with a total size of at most `session.work.maxStatementBytes`, since larger results would fill the process's
 * memory. If `most` is within the limit, the statement runs unchanged. Otherwise the database adds up the sizes of the rows,
 * and stops sending rows when the sum exceeds the limit.
 * @param most the maximum size of all rows in bytes, if every text has its maximum length.
 * @throws TooManyBytes
 */
export function boundedRows<Row>(
  session: Session,
  read: Query,
  values: readonly unknown[],
  most: number,
): Promise<Row[]> {
  const { maxStatementBytes = Infinity } = session.work;
  if (most > maxStatementBytes) return countedRows(session, read, values, maxStatementBytes);
  return session.query<Row>(read.statement ?? statementFor(read.rows, read.isPlannedByValues), values, read.isShort);
}

/**
 * Reads one row of text columns that are never null. Returns `undefined` if there is no row. If `most` exceeds
 * `session.work.maxStatementBytes`, the database measures the texts first, and sends none if they are too large.
 * @param columns the names of the text columns.
 * @param most the total size of the texts in bytes, if each has its maximum length.
 * @throws TooManyBytes
 */
export async function boundedTexts<Column extends string>(
  session: Session,
  read: Query,
  columns: readonly Column[],
  values: readonly unknown[],
  most: number,
): Promise<Readonly<Record<Column, string>> | undefined> {
  const { maxStatementBytes = Infinity } = session.work;
  let statement = read.statement ?? statementFor(read.rows, read.isPlannedByValues);
  if (most > maxStatementBytes) {
    const texts = columns.map((name) => `case when bytes <= ${maxStatementBytes} then ${name} end as ${name}`);
    const sized = `select read.*, octet_length(read::text) as bytes from (${read.rows}) as read`;
    const bounded = `select ${texts.join(', ')} from (${sized}) as sized`;
    statement = statementFor(bounded, read.isPlannedByValues);
  }
  const [row] = await session.query<Record<Column, string | null>>(statement, values, read.isShort);
  const [first] = columns;
  if (row && first !== undefined && row[first] === null)
    throw new TooManyBytes(`the texts of a statement exceed ${maxStatementBytes} bytes`);
  return row as Record<Column, string> | undefined;
}

async function countedRows<Row>(
  session: Session,
  read: Query,
  values: readonly unknown[],
  maxStatementBytes: number,
): Promise<Row[]> {
  const counted = `select * from (
select read.*, sum(octet_length(read::text)) over (rows unbounded preceding) as "$bytes", octet_length(read::text) as "$own"
from (${read.rows}) as read) as read where "$bytes" - "$own" <= ${maxStatementBytes}`;
  const statement = statementFor(counted, read.isPlannedByValues);
  const found = await session.query<Row & { $bytes?: bigint; $own?: number }>(statement, values, false);
  if ((found.at(-1)?.$bytes ?? 0) > maxStatementBytes)
    throw new TooManyBytes(`the rows of a statement exceed ${maxStatementBytes} bytes`);
  for (const row of found) {
    delete row.$bytes;
    delete row.$own;
  }
  return found;
}
