import type { Session } from '../database/database';
import { countRows, countRowsByParent, NOTHING, type Total } from '../database/reading/count';
import type { Filters } from '../database/reading/criteria';
import { decodeCursor, encodeCursor, listTag } from '../database/reading/cursor';
import type { JsonText } from '../database/reading/json-text';
import { type Page, selectPage, selectPageAsJson, selectPages } from '../database/reading/select';
import type { FieldSelection, PageQuery, PageSelection } from '../database/reading/selection';
import { orderOf, type Table } from '../database/reading/table';
import { Checks, MAX_FILTER_VALUES, NOT_A_CURSOR, PAGE_SIZE, SEARCH, tooLong } from '../errors/input-checks';

export const DEFAULT_PAGE = 20;
export const MAX_PAGE = PAGE_SIZE.maximum;

/** A slice of a list (GraphQL Cursor Connections Specification, section 4), and the order of the list. */
export interface PageArgs {
  readonly first?: number | null;
  readonly after?: string | null;
  readonly last?: number | null;
  readonly before?: string | null;
  readonly order: string;
  readonly descending: boolean;
}

/** A page of a list as a Relay connection, with `nodes` for clients that need no cursors. */
export class Connection<Row> {
  private counted?: Promise<Total>;

  /** @param countAll counts the rows of the whole list. It is called on demand, at most once. */
  constructor(
    private readonly rows: readonly Row[],
    private readonly cursorOf: (row: Row) => string,
    private readonly more: { readonly next: boolean; readonly previous: boolean },
    private readonly countAll: () => Promise<Total>,
  ) {}

  /** The number of rows in the whole list, up to the counting limit. */
  async totalCount(): Promise<number> {
    return (await this.total()).count;
  }

  async totalCountRelation(): Promise<'EQUAL' | 'AT_LEAST'> {
    return (await this.total()).isExact ? 'EQUAL' : 'AT_LEAST';
  }

  private total(): Promise<Total> {
    this.counted ??= this.countAll();
    return this.counted;
  }

  get nodes(): readonly Row[] {
    return this.rows;
  }

  get edges(): { node: Row; cursor: string }[] {
    return this.rows.map((node) => ({ node, cursor: this.cursorOf(node) }));
  }

  get pageInfo() {
    const first = this.rows[0];
    const last = this.rows.at(-1);
    return {
      hasNextPage: this.more.next,
      hasPreviousPage: this.more.previous,
      startCursor: first === undefined ? null : this.cursorOf(first),
      endCursor: last === undefined ? null : this.cursorOf(last),
    };
  }
}

/** The filter values of a list, by the names of the table's filters. */
type Filter = object | null | undefined;

/** A page: a connection, or, if the selection describes JSON, the JSON text of each member by its key. */
export type PageResult<Row> = Connection<Row> | Readonly<Record<string, JsonText>>;

/**
 * Reads a page of a table.
 * @throws ProblemError `BAD_USER_INPUT` for arguments out of bounds, cursors of other lists, and invalid search
 * texts.
 */
export async function readConnection<Row>(
  session: Session,
  table: Table<Row>,
  args: PageArgs,
  filter: Filter,
  selection?: PageSelection,
): Promise<PageResult<Row>> {
  const query = pageQuery(table, args, filter);
  if (selection?.kind === 'page-json') return selectPageAsJson(session, table, query, selection.page, selection.nested);
  const page = await selectPage(session, table, query, selection);
  return connection(table, query, page, () => countRows(session, table, query.filters));
}

/**
 * Reads the same page for each of many parents in one statement. When the first total is requested, a second statement reads
 * the totals of all parents.
 */
export async function readConnections<Row>(
  session: Session,
  table: Table<Row>,
  column: string,
  parents: readonly bigint[],
  args: PageArgs,
  filter: Filter,
  selection?: FieldSelection,
): Promise<Map<bigint, Connection<Row>>> {
  const query = pageQuery(table, args, filter);
  let counts: Promise<Map<bigint, Total>> | undefined;
  const countOf = (parent: bigint) => async () => {
    counts ??= countRowsByParent(session, table, column, parents, query.filters);
    return (await counts).get(parent) ?? NOTHING;
  };
  const pages = await selectPages(session, table, column, parents, query, selection);
  return new Map([...pages].map(([parent, page]) => [parent, connection(table, query, page, countOf(parent))]));
}

/** Converts the arguments of a page to a query. @throws ProblemError `BAD_USER_INPUT` that names every invalid argument. */
export function pageQuery<Row>(table: Table<Row>, args: PageArgs, filter: Filter): PageQuery {
  const filters: Filters = { ...filter };
  const { first, last, order, descending } = args;
  const tag = listTag(table, order, descending);
  const { kind } = orderOf(table, order).column;
  const checks = new Checks();
  for (const name in table.filters)
    if (table.filters[name]?.kind === 'name') checks.value(`filter.${name}`, SEARCH, filters[name]);
  checkLists(checks, filters);
  const bound = (path: 'after' | 'before') => {
    const cursor = args[path];
    if (cursor === undefined || cursor === null) return undefined;
    const decoded = decodeCursor(tag, kind, cursor);
    if (!decoded) checks.fail(path, NOT_A_CURSOR);
    return decoded;
  };
  checks.value('first', PAGE_SIZE, first);
  checks.value('last', PAGE_SIZE, last);
  if (first != null && last != null) checks.fail('last', { message: 'must not be given together with first' });
  const after = bound('after');
  const before = bound('before');
  checks.done();
  const limit = first ?? last ?? DEFAULT_PAGE;
  return { after, before, filters, order, descending, limit, backward: last != null };
}

/** Checks the number of values in all lists of a filter together, so that a link to the next page is never too long. */
function checkLists(checks: Checks, filters: Filters): void {
  const lists = Object.entries(filters).filter(([, value]) => Array.isArray(value) && value.length > 0);
  const values = lists.reduce((sum, [, list]) => sum + (list as readonly unknown[]).length, 0);
  if (values <= MAX_FILTER_VALUES) return;
  const fault = tooLong(MAX_FILTER_VALUES, 'items');
  const message = lists.length > 1 ? `${fault.message}, together with the other lists of the filter` : fault.message;
  for (const [name] of lists) checks.fail(`filter.${name}`, { ...fault, message });
}

function connection<Row>(
  table: Table<Row>,
  { order, descending, backward, before, after }: PageQuery,
  { rows, isMore }: Page<Row>,
  countAll: () => Promise<Total>,
): Connection<Row> {
  const tag = listTag(table, order, descending);
  const { keyOf } = orderOf(table, order);
  const cursorOf = (row: Row) => encodeCursor(tag, { key: keyOf(row), id: String(table.idOf(row)) });
  const more = backward
    ? { next: before !== undefined, previous: isMore }
    : { next: isMore, previous: after !== undefined };
  return new Connection(rows, cursorOf, more, countAll);
}
