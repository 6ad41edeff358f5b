import { MOST_COUNTED, totalSql } from './count';
import { type CursorSql, cursorSql } from './cursor';
import { type Parents, pageStatement } from './page-statement';
import type { EdgeMember, Nested, PageInfoMember, PageJson, PageMember, PageQuery, RowJson } from './selection';
import type { StatementScope } from './statement-scope';
import { type Column, columnOf, columnOrComputed, mostBytesOf, type Table } from './table';

/** SQL that writes a row as JSON. It refers to the row's table by the table's name. */
interface RowSql {
  readonly text: string;
  /** SQL that joins the related rows: ` join …`. */
  readonly joins: string;
  /** Maximum size of the JSON in bytes, if every text has its maximum length. */
  readonly mostBytes: number;
  /** Maximum number of rows that the SQL reads in addition to this row. */
  readonly mostRows: number;
}

/** SQL that writes each member of a page as a JSON text. */
interface PageSql {
  readonly members: readonly { readonly key: string; readonly text: string }[];
  /** The FROM clause: ` from …`. */
  readonly from: string;
  readonly isShort: boolean;
  readonly isPlannedByValues: boolean;
  readonly mostBytes: number;
  readonly mostRows: number;
}

/** Writes SQL that serializes rows and pages as JSON.stringify would. */
export class JsonWriter {
  /**
   * @param scope receives the parameters of nested pages.
   * @param nested the query of each nested page.
   */
  constructor(
    private readonly scope: StatementScope,
    private readonly nested: Nested | undefined,
  ) {}

  /** The number of nested pages written so far. */
  private nestedPages = 0;

  row<Row>(table: Table<Row>, row: RowJson): RowSql {
    const relations = new Set<string>();
    const { sql: text, mostBytes, mostRows } = this.rowFormat(table, row, relations);
    return { text, joins: this.scope.joins(table, relations), mostBytes, mostRows };
  }

  /** @param parents the parents whose related rows the page lists; `undefined` if it lists all rows of the table. */
  page<Row>(table: Table<Row>, json: PageJson, query: PageQuery, parents?: Parents): PageSql {
    const { members, rows, joins, hasTotal } = this.shape(table, json, query);
    const total = hasTotal ? `(${totalSql(table, query.filters, this.scope, parents)}) as total` : undefined;
    if (!rows.isRead) {
      const from = ` from ${total ?? '(select) as none'}`;
      return { members, from, isShort: !total, isPlannedByValues: true, mostBytes: 0, mostRows: 0 };
    }
    const limit = rows.hasMore ? query.limit + 1 : query.limit;
    const read = pageStatement(table, { columns: rows.columns, joins }, { ...query, limit }, this.scope, parents);
    const isFiltered = Object.keys(query.filters).length > 0;
    return {
      members,
      from: ` from ${rows.from(read.sql, parents)}${total ? `, ${total}` : ''}`,
      isShort: read.isShort && !total,
      isPlannedByValues: read.isPlannedByValues || (hasTotal && isFiltered),
      mostBytes: limit * rows.mostBytes,
      mostRows: limit * (1 + rows.mostRows),
    };
  }

  /** The part of a page's SQL that does not depend on the values of filters and cursors. It is cached. */
  private shape<Row>(table: Table<Row>, json: PageJson, query: PageQuery): PageShape {
    const { order, descending, backward, limit, before, after } = query;
    const { visibilityKind } = this.scope;
    const key = `${table.name} ${visibilityKind} ${order} ${descending} ${backward} ${limit} ${before !== undefined} ${after !== undefined}`;
    const known = shapes.get(json)?.get(key);
    if (known) return known;
    const { nestedPages } = this;
    const rows = new PageRows(query, cursorSql(table, order, descending));
    const relations = new Set<string>();
    const rowOf = (row: RowJson) => this.rowFormat(table, row, relations);
    const shape = {
      members: json.members.map((member) => ({ key: member.key, text: memberSql(member, rows, rowOf) })),
      rows,
      joins: this.scope.joins(table, relations),
      hasTotal: json.members.some(({ kind }) => kind === 'total-count' || kind === 'total-relation'),
    };
    // A shape with nested pages is not cached, since its SQL depends on the parameters of the request.
    if (this.nestedPages === nestedPages) remember(json, key, shape);
    return shape;
  }

  /** @param relations receives the relations that the statement must join; `undefined` if it cannot join any. */
  private rowFormat<Row>(table: Table<Row>, row: RowJson, relations: Set<string> | undefined): Format {
    const format = new Format();
    const omitsNulls = row.nulls === 'omitted';
    return format.object(row.members, (member, name) => {
      switch (member.kind) {
        case 'constant':
          return format.append(name + JSON.stringify(member.constant));
        case 'column':
          return addColumn(format, name, columnOrComputed(table, member.column), row);
        case 'pages':
          return format.append(name).add(this.pages(table, member.pages, member.page));
        case 'relation': {
          const { value, isNullable } = this.relation(table, member.relation, member.row, relations);
          return isNullable ? format.addOptional(name, value, omitsNulls) : format.append(name).add(value);
        }
      }
    });
  }

  /** A related row: joined if possible, else read by a subquery. */
  private relation<Row>(table: Table<Row>, name: string, row: RowJson, relations: Set<string> | undefined) {
    const relation = table.relations[name];
    if (!relation) throw new Error(`${table.name} has no relation ${name}`);
    const other = relation.table();
    const isNullable = relation.join === 'left';
    const id = columnOf(other, other.idField);
    const { sql, mostBytes, mostRows } = this.rowFormat(other, row, undefined);
    // An `included` relation needs no subquery. A nested row of this table is always inside the related row, so the related
    // table is already in scope.
    if (relation.join !== 'included' && !relations) {
      const from = `${this.scope.from(other)} where ${id} = ${columnOf(table, relation.field)}`;
      return { value: { sql: `(select ${sql} from ${from})`, mostBytes, mostRows: mostRows + 1 }, isNullable };
    }
    relations?.add(name);
    const text = isNullable ? `case when ${id} is not null then ${sql} end` : sql;
    return { value: { sql: text, mostBytes, mostRows }, isNullable };
  }

  /** SQL that writes a nested page: the rows of another table that refer to a row of this table. */
  private pages<Row>(table: Table<Row>, name: string, page: PageJson): Value {
    const pages = table.pages?.[name];
    const query = this.nested?.get(page);
    if (!pages || !query) throw new Error(`${table.name} has no pages ${name}`);
    this.nestedPages++;
    const other = pages.table();
    const rows = `(select ${columnOf(table, table.idField)})`;
    const column = other.columns[pages.field] as Column;
    const { members, from, mostBytes, mostRows } = this.page(other, page, query, { rows, count: 1, column });
    const format = new Format();
    format.object(members, ({ text }, key) => format.append(key).add({ sql: text, mostBytes: 0, mostRows: 0 }));
    return { sql: `(select ${format.sql}${from})`, mostBytes: format.mostBytes + mostBytes, mostRows };
  }
}

/** See {@link JsonWriter.shape}. */
interface PageShape {
  readonly members: PageSql['members'];
  readonly rows: PageRows;
  readonly joins: string;
  readonly hasTotal: boolean;
}

/** A cache of shapes, since most documents request the same page repeatedly. */
const shapes = new WeakMap<PageJson, Map<string, PageShape>>();
/** Maximum number of cached shapes per selection. Each page size is a separate shape, and there are 100 page sizes. */
const MOST_SHAPES = 200;

function remember(json: PageJson, key: string, shape: PageShape): void {
  let known = shapes.get(json);
  if (!known || known.size === MOST_SHAPES) {
    known = new Map();
    shapes.set(json, known);
  }
  known.set(key, shape);
}

/** SQL that writes one member of a page as a JSON text. */
function memberSql(member: PageMember, rows: PageRows, rowOf: (row: RowJson) => Format): string {
  switch (member.kind) {
    case 'constant':
      return literal(JSON.stringify(member.constant));
    case 'nodes':
      return rows.list(rowOf(member.row));
    case 'edges':
      return rows.list(edgeFormat(member.members, rows.cursor, rowOf));
    case 'page-info':
      return pageInfoSql(member.members, rows);
    case 'total-count':
      return `least(total.count, ${MOST_COUNTED})::text`;
    case 'total-relation':
      return `case when total.count > ${MOST_COUNTED} then '"AT_LEAST"' else '"EQUAL"' end`;
  }
}

function edgeFormat(members: readonly EdgeMember[], cursor: string, rowOf: (row: RowJson) => Format): Format {
  const format = new Format();
  return format.object(members, (member, key) => {
    if (member.kind === 'constant') return format.append(key + JSON.stringify(member.constant));
    if (member.kind === 'node') return format.append(key).add(rowOf(member.row));
    return format.append(`${key}"`).add({ sql: cursor, mostBytes: 2000, mostRows: 0 }).append('"');
  });
}

function pageInfoSql(members: readonly PageInfoMember[], rows: PageRows): string {
  const format = new Format();
  return format.object(members, (member, key) => {
    if (member.kind === 'constant') return format.append(key + JSON.stringify(member.constant));
    return format.append(key).add({ sql: rows.info(member.info), mostBytes: 2000, mostRows: 0 });
  }).sql;
}

/** Builds the SQL for a page's rows: a subquery `page` selects the rows, and `members` aggregates them into JSON texts. */
class PageRows {
  mostBytes = 0;
  mostRows = 0;
  private readonly read: string[] = [];
  private readonly aggregates: (() => string)[] = [];
  private hasNumbers: boolean;
  private selected: string | undefined;
  /** Whether to read one extra row, to find out whether more rows follow the page. */
  hasMore = false;

  constructor(
    private readonly page: Pick<PageQuery, 'backward' | 'before' | 'after' | 'limit'>,
    private readonly cursors: CursorSql,
  ) {
    this.hasNumbers = page.backward;
  }

  get isRead(): boolean {
    return this.read.length > 0 || this.hasMore;
  }

  /** SQL of a row's cursor. */
  get cursor(): string {
    const { id, key, of } = this.cursors;
    return of(id, key);
  }

  get columns(): string {
    return this.read.map((sql, index) => `${sql} as c${index}`).join(', ') || 'true as c0';
  }

  /** SQL that writes a JSON array with one item for each row. */
  list({ sql, mostBytes, mostRows }: Format): string {
    this.mostBytes += mostBytes;
    this.mostRows += mostRows;
    const column = this.column(sql);
    return this.aggregate(
      () => `'[' || coalesce(string_agg(page.${column}, ','${this.order})${this.inPage}, '') || ']'`,
    );
  }

  info(name: 'hasNextPage' | 'hasPreviousPage' | 'startCursor' | 'endCursor'): string {
    const { backward, before, after, limit } = this.page;
    if (name === 'hasNextPage' || name === 'hasPreviousPage') {
      if ((name === 'hasNextPage') === backward) return literal(String((backward ? before : after) !== undefined));
      this.hasMore = true;
      this.hasNumbers = true;
      return this.aggregate(() => `(count(*) > ${limit})::text`);
    }
    // Collects the ids and keys of all rows, but encodes only the cursor of the first or last row.
    const { id, key, of } = this.cursors;
    const index = name === 'startCursor' ? '1' : `least(count(*), ${limit})::int`;
    const end = (column: string) => `(array_agg(page.${column}${this.order})${this.inPage})[${index}]`;
    const [idColumn, keyColumn] = [this.column(id), this.column(key)];
    return this.aggregate(() => `coalesce('"' || ${of(end(idColumn), end(keyColumn))} || '"', 'null')`);
  }

  /** @param rows SQL that selects the rows. */
  from(rows: string, parents: Parents | undefined): string {
    const numbered = this.hasNumbers ? `select rows.*, row_number() over () as number from (${rows}) as rows` : rows;
    const source = parents
      ? `${parents.rows} as parent(id) cross join lateral (${numbered}) as page`
      : `(${numbered}) as page`;
    this.selected ??= this.aggregates.map((sql, index) => `${sql()} as m${index}`).join(', ');
    return `(select ${this.selected} from ${source}) as members`;
  }

  private column(sql: string): string {
    const known = this.read.indexOf(sql);
    return `c${known < 0 ? this.read.push(sql) - 1 : known}`;
  }

  /**
   * @param sql returns the SQL of an aggregate; called when all members are known.
   * @returns the column that contains the value of the aggregate.
   */
  private aggregate(sql: () => string): string {
    return `members.m${this.aggregates.push(sql) - 1}`;
  }

  /**
   * The `order by` inside every aggregate. It is empty if the page is read forward, since the rows are then already in
   * order. In PostgreSQL 16, an `order by` in one aggregate may reorder the rows of all other aggregates. So either all
   * aggregates have an `order by`, or none.
   */
  private get order(): string {
    return this.page.backward ? ' order by page.number desc' : '';
  }

  /** Excludes the extra row from an aggregate. */
  private get inPage(): string {
    return this.hasMore ? ` filter (where page.number <= ${this.page.limit})` : '';
  }
}

/** SQL of a JSON text. */
interface Value {
  readonly sql: string;
  readonly mostBytes: number;
  readonly mostRows: number;
}

/** Maximum number of values of one call of `format`, besides its template (PostgreSQL's FUNC_MAX_ARGS is 100). */
const MAX_VALUES = 99;

/**
 * Builds SQL that writes a text with values in it. It calls PostgreSQL's `format`, since concatenation with `||` would copy
 * each row several times.
 */
class Format implements Value {
  mostBytes = 0;
  mostRows = 0;
  private readonly calls: { template: string; readonly values: string[] }[] = [];

  get sql(): string {
    return this.calls
      .map(({ template, values }) => `format(${[literal(template), ...values].join(', ')})`)
      .join(' || ');
  }

  /**
   * Appends a JSON object.
   * @param write appends one member. Its argument `key` includes the quotes, the comma and the colon.
   */
  object<Member extends { readonly key: string }>(
    members: readonly Member[],
    write: (member: Member, key: string) => unknown,
  ): this {
    this.append('{');
    for (const [index, member] of members.entries()) write(member, `${index ? ',' : ''}${JSON.stringify(member.key)}:`);
    return this.append('}');
  }

  append(text: string): this {
    this.call.template += text.replaceAll('%', '%%');
    this.mostBytes += text.length;
    return this;
  }

  /** Adds a value that is not null. */
  add({ sql, mostBytes, mostRows }: Value): this {
    const { call } = this;
    call.template += '%s';
    call.values.push(sql);
    this.mostBytes += mostBytes;
    this.mostRows += mostRows;
    return this;
  }

  /**
   * Adds a member whose value may be null. With `omitsNulls`, a member with a null value is omitted. Key and value are joined
   * with `||`, which returns null for a null value, and `format` writes nothing for null.
   */
  addOptional(key: string, value: Value, omitsNulls: boolean): this {
    if (omitsNulls) return this.add({ ...value, sql: `${literal(key)} || ${value.sql}` });
    return this.append(key).add({ ...value, sql: `coalesce(${value.sql}, 'null')` });
  }

  private get call() {
    const last = this.calls.at(-1);
    if (last && last.values.length < MAX_VALUES) return last;
    const call = { template: '', values: [] };
    this.calls.push(call);
    return call;
  }
}

function addColumn(format: Format, key: string, column: Column, { ids, nulls }: RowJson): Format {
  const { kind, isNullable } = column;
  const isQuoted = QUOTED.has(kind) || (kind === 'id' && ids === 'string');
  const value = { sql: jsonValueOf(column), mostBytes: mostBytesOf(column), mostRows: 0 };
  if (isNullable) {
    const quoted = isQuoted ? { ...value, sql: `'"' || ${value.sql} || '"'` } : value;
    return format.addOptional(key, quoted, nulls === 'omitted');
  }
  return isQuoted ? format.append(`${key}"`).add(value).append('"') : format.append(key).add(value);
}

/** The kinds whose values are JSON strings that need no escaping. */
const QUOTED: ReadonlySet<Column['kind']> = new Set(['enum', 'timestamp', 'date']);

/** SQL that writes a column's value as JSON. The caller adds the quotes of {@link QUOTED} kinds. */
function jsonValueOf({ sql, kind }: Column): string {
  if (kind === 'text') return `to_json(${sql})::text`;
  if (kind === 'date') return `to_char(${sql}, 'YYYY-MM-DD')`;
  return kind === 'timestamp' ? `to_char(${sql} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')` : `${sql}::text`;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
