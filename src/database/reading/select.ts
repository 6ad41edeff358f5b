import type { Session, Statement } from '../database';
import { statement as statementOf } from '../statement';
import { boundedRows, boundedTexts } from './bounded-rows';
import { JsonWriter } from './json';
import { SHORT } from './page-statement';
import { type Projection, projectionOf } from './projection';
import { type FieldSelection, JsonText, type Nested, type RowJson, type RowSelection } from './selection';
import { Values } from './statement-values';
import { columnOf, joinsOf, type Table } from './table';

/** Reads rows by their ids. The map has no entry for an id without a row. */
export async function selectByIds<Row>(
  session: Session,
  table: Table<Row>,
  ids: readonly bigint[],
  selection?: FieldSelection,
): Promise<Map<bigint, Row>> {
  const projection = projectionOf(table, selection);
  const isOne = ids.length === 1;
  const statement = (isOne ? byId : byIds)(table, projection);
  const isShort = ids.length <= SHORT;
  const read = { rows: statement.text, statement, isShort, isPlannedByValues: false };
  const rows = await boundedRows<Row>(session, read, [isOne ? ids[0] : ids], ids.length * projection.mostBytes);
  return new Map(projection.shape(rows).map((row) => [table.idOf(row), row]));
}

/** Reads a row in the form of the selection. Returns `undefined` if the row does not exist. */
export async function selectOne<Row>(
  session: Session,
  table: Table<Row>,
  id: bigint,
  selection: RowSelection,
): Promise<Row | JsonText | undefined> {
  if (selection.kind === 'row-json') return selectAsJson(session, table, id, selection.row, selection.nested);
  return (await selectByIds(session, table, [id], selection)).get(id);
}

async function selectAsJson<Row>(
  session: Session,
  table: Table<Row>,
  id: bigint,
  json: RowJson,
  nested: Nested | undefined,
): Promise<JsonText | undefined> {
  const values = new Values();
  const parameter = values.add(id, 'bigint');
  let known = nested ? undefined : rowStatements.get(json);
  if (!known) {
    const { text, relations, mostBytes, mostRows } = new JsonWriter(values, nested).row(table, json);
    const from = `${table.name}${joinsOf(table, relations)} where ${columnOf(table, table.idField)} = ${parameter}`;
    known = { statement: statementOf(`select ${text} as json from ${from}`), mostBytes, mostRows };
    if (!nested) rowStatements.set(json, known);
  }
  const { statement, mostBytes, mostRows } = known;
  const read = { rows: statement.text, statement, isShort: mostRows <= SHORT, isPlannedByValues: false };
  const row = await boundedTexts(session, read, ['json'], values.list, mostBytes);
  return row && new JsonText(row.json);
}

interface RowStatement {
  readonly statement: Statement;
  readonly mostBytes: number;
  readonly mostRows: number;
}

/** A cache of statements for selections without nested pages. These statements are the same for all requests. */
const rowStatements = new WeakMap<RowJson, RowStatement>();

const byId = finding('= $1');
const byIds = finding('= any($1::bigint[])');

/**
 * Caches statements that read rows by id, with the projection as the key. A lookup by text would be slower, since the text
 * must be built and hashed first.
 */
function finding(condition: string): <Row>(table: Table<Row>, projection: Projection) => Statement {
  const statements = new WeakMap<Projection, Statement>();
  return (table, projection) => {
    let known = statements.get(projection);
    if (!known) {
      const { columns, joins } = projection;
      known = statementOf(
        `select ${columns} from ${table.name}${joins} where ${columnOf(table, table.idField)} ${condition}`,
      );
      statements.set(projection, known);
    }
    return known;
  };
}
