import type { Session, Statement } from '../database';
import { statementFor } from '../statement';

/** The rows of a statement exceed their maximum size. */
export class TooManyBytes extends Error {}

/** A query, and how it is run. */
export interface Read {
  /** SQL that selects the rows in the order of the result. */
  readonly rows: string;
  /** Whether the query reads few rows by an index, so that it may share a connection. */
  readonly isShort: boolean;
  readonly isPlannedByValues: boolean;
  /** The statement for `rows`, if it already exists. */
  readonly statement?: Statement;
}

/**
 * Reads rows. If `most` exceeds `session.work.maxStatementBytes`, the database counts the bytes of the rows. It sends no
 * more rows once they exceed the limit, so that they do not fill the process's memory. Most statements need no count.
 * @param most the size of the rows in bytes if all texts had their maximum length.
 * @throws TooManyBytes
 */
export function boundedRows<Row>(
  session: Session,
  read: Read,
  values: readonly unknown[],
  most: number,
): Promise<Row[]> {
  const { maxStatementBytes = Infinity } = session.work;
  if (most > maxStatementBytes) return countedRows(session, read, values, maxStatementBytes);
  return session.query<Row>(read.statement ?? statementFor(read.rows, read.isPlannedByValues), values, read.isShort);
}

/**
 * Reads one row, whose columns are texts that are not null; `undefined` if there is no row. If `most` exceeds
 * `session.work.maxStatementBytes`, the database measures the texts first, and sends none if they are too large.
 * @param columns the names of the text columns.
 * @param most the size of the texts in bytes if each had its maximum length.
 * @throws TooManyBytes
 */
export async function boundedTexts<Column extends string>(
  session: Session,
  read: Read,
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
    throw new TooManyBytes(`a statement's texts have over ${maxStatementBytes} bytes`);
  return row as Record<Column, string> | undefined;
}

async function countedRows<Row>(
  session: Session,
  read: Read,
  values: readonly unknown[],
  maxStatementBytes: number,
): Promise<Row[]> {
  const counted = `select * from (
select read.*, sum(octet_length(read::text)) over (rows unbounded preceding) as "$bytes", octet_length(read::text) as "$own"
from (${read.rows}) as read) as read where "$bytes" - "$own" <= ${maxStatementBytes}`;
  const statement = statementFor(counted, read.isPlannedByValues);
  const found = await session.query<Row & { $bytes?: bigint; $own?: number }>(statement, values, false);
  if ((found.at(-1)?.$bytes ?? 0) > maxStatementBytes)
    throw new TooManyBytes(`a statement's rows have over ${maxStatementBytes} bytes`);
  for (const row of found) {
    delete row.$bytes;
    delete row.$own;
  }
  return found;
}
