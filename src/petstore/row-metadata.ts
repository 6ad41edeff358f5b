import { Arg } from 'type-graphql';
import type { Session } from '../database/database';
import { selectByIds } from '../database/reading/select';
import { type FieldSelection, NOTHING } from '../database/reading/selection';
import { columnOrComputed, type Table } from '../database/reading/table';
import { RecordedWrite, type RecordedWriteSql } from '../database/recorded-write';
import type { Precondition } from '../errors/precondition';
import { nullable } from '../graphql/directives';
import type { RowMetadata } from './model';

const FIELDS: readonly (keyof RowMetadata)[] = ['createdAt', 'updatedAt', 'version'];
const VERSION: FieldSelection = { kind: 'fields', fields: new Map([['version', NOTHING]]) };

/**
 * Returns a function that chooses the statement that inserts a row: the statement returns {@link RowMetadata} only if these
 * fields are selected.
 * @param sql the statement without these fields.
 */
export function insertBySelection<Row extends object>(
  table: Table<never>,
  sql: RecordedWriteSql,
): (selection?: FieldSelection) => RecordedWrite<Row & RowMetadata> {
  const metadata = FIELDS.map((field) => [field, columnOrComputed(table, field).sql]);
  const short = new RecordedWrite<Row & RowMetadata>(sql);
  const whole = new RecordedWrite<Row & RowMetadata>({
    ...sql,
    returning: { ...sql.returning, ...Object.fromEntries(metadata) },
  });
  return ({ fields, isWhole } = NOTHING) => (isWhole || FIELDS.some((field) => fields.has(field)) ? whole : short);
}

/**
 * Adds the version to a row that the transaction has written, if it is selected. A later read might return the version of another
 * write.
 */
export async function withVersion<Row extends RowMetadata>(
  transaction: Session,
  table: Table<Row>,
  row: Row,
  { fields, isWhole }: FieldSelection = NOTHING,
): Promise<Row> {
  if (!isWhole && !fields.has('version')) return row;
  const id = table.idOf(row);
  const version = (await selectByIds(transaction, table, [id], VERSION)).get(id)?.version;
  return { ...row, version };
}

/** The argument of a change that makes it conditional. */
export const IfVersion = () =>
  Arg(
    'ifVersion',
    () => String,
    nullable(
      "Makes the change only if the object's `version` still equals this value. Otherwise the field fails with `PRECONDITION_FAILED`.",
    ),
  );

/** The precondition of a change: `ifVersion` if it is given, otherwise the request's precondition, such as `If-Match`. */
export function conditionOf(
  { precondition }: { readonly precondition?: Precondition },
  ifVersion: string | null | undefined,
): Precondition | undefined {
  if (ifVersion == null) return precondition;
  return (current) => ((current as RowMetadata | null)?.version === ifVersion ? undefined : 'ifVersion');
}
