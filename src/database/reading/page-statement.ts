import type { Read } from './bounded-rows';
import { criteriaOf } from './criteria';
import { NO_PARENTS, type Parents } from './parents';
import type { Projection } from './projection';
import { isWalk, sorted } from './row-tests';
import { searchOf } from './search';
import type { PageQuery } from './selection';
import type { Values } from './statement-values';
import { columnOf, type Table } from './table';
import { intervalsOf, walkOf } from './walk';

/** Maximum number of rows of a read that other statements may wait for. */
export const SHORT = 500;

/** At least as many rows as a page has: a constant tells the planner, whatever the parameter, how few are joined. */
const MOST_ROWS = 101;

/** Whether a page is read by intervals of an index that has its order: then it can also be read for each of many rows. */
export function isReadInOrder<Row>(table: Table<Row>, { filters, order }: PageQuery): boolean {
  return isWalk(criteriaOf(table, filters), order);
}

/** Reads a page: if there are parents, of the rows that `parent.id` has. */
export function pageStatement<Row>(
  table: Table<Row>,
  { columns, joins }: Pick<Projection, 'columns' | 'joins'>,
  page: PageQuery,
  values: Values,
  parents: Parents = NO_PARENTS,
): Read {
  const { order, descending, backward, after, before, limit } = page;
  const criteria = criteriaOf(table, page.filters);
  const { isPlannedByValues } = criteria;
  const [low, high] = descending ? [before, after] : [after, before];
  const walk = { order, low, high, limit, isReverse: descending !== backward };
  const { name } = table;
  const selected = (rows: string, most = limit) =>
    `select ${columns} from (${rows} limit ${Math.max(most, MOST_ROWS)}) as ${name}${joins}${sorted(table, walk)}`;

  if (!isWalk(criteria, order)) {
    const ofParent = parents.column ? ' where found.parent = parent.id' : '';
    const found = `select ${name}.* from found join ${name} on ${columnOf(table, table.idField)} = found.id${ofParent}`;
    const prefix = `with ${searchOf(table, criteria, walk, values, parents)}\n`;
    const isShort = criteria.ids !== undefined && criteria.ids.count <= SHORT && !isPlannedByValues;
    // What begins with a text and what else contains it are found apart, so there may be twice as many.
    const rows = `${selected(found, 2 * limit)} limit ${limit}`;
    return { prefix, rows, isShort, isPlannedByValues };
  }
  const intervals = intervalsOf(criteria, order);
  const isFlat = intervals === 1 && !joins;
  const rows = walkOf(table, criteria, walk, isFlat ? columns : `${name}.*`, values, parents.column);
  return {
    prefix: '',
    rows: isFlat ? rows : selected(`select * from (${rows}) as ${name}`),
    isShort: limit * intervals * parents.count <= SHORT,
    isPlannedByValues,
  };
}
