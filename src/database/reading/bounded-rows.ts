import type { Session, Statement } from '../database';
import { statementFor } from '../statement';

/** The rows of a statement exceed their maximum size. */
export class TooManyBytes extends Error {}

/** A query. */
export interface Read {
  /** Selects the rows in the order in which they are read. */
  readonly rows: string;
  /** Whether it reads few rows by an index, so that it may share a connection. */
  readonly isShort: boolean;
  readonly isPlannedByValues: boolean;
  /** The statement, if it is known. */
  readonly statement?: Statement;
}

/**
 * Reads rows. If they could exceed the size limit of the work's statements, the database counts their bytes, and sends no
 * further row once they exceed it, so that the process never holds them. Most statements cannot exceed it, and count nothing.
 * @param most how many bytes the rows could have, if all texts had their maximum length.
 * @throws TooManyBytes
 */
export function boundedRows<Row>(
  session: Session,
  read: Read,
  values: readonly unknown[],
  most: number,
): Promise<Row[]> {
  const { mostBytes = Infinity } = session.work;
  if (most > mostBytes) return countedRows(session, read, values, mostBytes);
  return session.query<Row>(read.statement ?? statementFor(read.rows, read.isPlannedByValues), values, read.isShort);
}

/**
 * Reads one row of texts that are not null; `undefined` if there is none. If the texts could exceed the size limit of the
 * work's statements, the database counts their bytes, and sends none if they exceed it.
 * @param columns the names of the texts.
 * @throws TooManyBytes
 */
export async function boundedTexts<Column extends string>(
  session: Session,
  read: Read,
  columns: readonly Column[],
  values: readonly unknown[],
  most: number,
): Promise<Readonly<Record<Column, string>> | undefined> {
  const { mostBytes = Infinity } = session.work;
  let statement = read.statement ?? statementFor(read.rows, read.isPlannedByValues);
  if (most > mostBytes) {
    const texts = columns.map((name) => `case when bytes <= ${mostBytes} then ${name} end as ${name}`);
    const sized = `select read.*, octet_length(read::text) as bytes from (${read.rows}) as read`;
    const bounded = `select ${texts.join(', ')} from (${sized}) as sized`;
    statement = statementFor(bounded, read.isPlannedByValues);
  }
  const [row] = await session.query<Record<Column, string | null>>(statement, values, read.isShort);
  const [first] = columns;
  if (row && first !== undefined && row[first] === null)
    throw new TooManyBytes(`a statement's texts have over ${mostBytes} bytes`);
  return row as Record<Column, string> | undefined;
}

async function countedRows<Row>(
  session: Session,
  read: Read,
  values: readonly unknown[],
  mostBytes: number,
): Promise<Row[]> {
  const counted = `select * from (
select read.*, sum(octet_length(read::text)) over (rows unbounded preceding) as "$bytes", octet_length(read::text) as "$own"
from (${read.rows}) as read) as read where "$bytes" - "$own" <= ${mostBytes}`;
  const statement = statementFor(counted, read.isPlannedByValues);
  const found = await session.query<Row & { $bytes?: bigint; $own?: number }>(statement, values, false);
  if ((found.at(-1)?.$bytes ?? 0) > mostBytes)
    throw new TooManyBytes(`a statement's rows have over ${mostBytes} bytes`);
  for (const row of found) {
    delete row.$bytes;
    delete row.$own;
  }
  return found;
}
