import type { Session, Statement } from '../database';
import { statement as statementOf } from '../statement';
import { boundedRows } from './bounded-rows';
import { SHORT } from './page-statement';
import { type Projection, projectionOf } from './projection';
import type { Selection } from './selection';
import { columnOf, type Table } from './table';

/** Reads the rows of `ids`, by id; rows that do not exist are missing from the map. */
export async function selectByIds<Row>(
  session: Session,
  table: Table<Row>,
  ids: readonly bigint[],
  selection?: Selection,
): Promise<Map<bigint, Row>> {
  const projection = projectionOf(table, selection);
  const isOne = ids.length === 1;
  const statement = (isOne ? byId : byIds)(table, projection);
  const isShort = ids.length <= SHORT;
  const read = { prefix: '', rows: statement.text, statement, isShort, isPlannedByValues: false };
  const rows = await boundedRows<Row>(session, read, [isOne ? ids[0] : ids], ids.length * projection.mostBytes);
  return new Map(projection.shape(rows).map((row) => [table.idOf(row), row]));
}

const byId = finding('= $1');
const byIds = finding('= any($1::bigint[])');

/** Statements that read by id, created once: looking a statement up by its text takes longer the longer the text is. */
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
