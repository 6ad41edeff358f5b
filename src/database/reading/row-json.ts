import type { JsonFormat, RowJson } from './selection';
import { type Column, columnOf, mostBytesOf, type Table } from './table';

/** Maximum number of values of `format` besides its template (PostgreSQL's FUNC_MAX_ARGS is 100). */
const MAX_VALUES = 99;

/**
 * The SQL that serialises a row as JSON.stringify would, and the relations it needs; `undefined` if the shape requires
 * more than columns and relations to one row.
 */
export function jsonOf<Row>(
  table: Table<Row>,
  json: RowJson,
): { text: string; relations: Iterable<string>; mostBytes: number } | undefined {
  const row = new RowFormat(json);
  return row.add(table, json) && row.values.length <= MAX_VALUES ? row : undefined;
}

/** Builds a call of `format`: concatenation would copy each row several times. */
class RowFormat {
  readonly values: string[] = [];
  readonly relations = new Set<string>();
  mostBytes = 0;
  private readonly omitsNulls: boolean;
  private template = '';

  constructor(private readonly format: JsonFormat) {
    this.omitsNulls = format.nulls === 'omitted';
  }

  get text(): string {
    return `format(${[literal(this.template), ...this.values].join(', ')})`;
  }

  /** @returns whether every member could be added. */
  add<Row>(table: Table<Row>, { members }: RowJson): boolean {
    // Unless the first member is always present, it is unknown whether a comma is needed.
    const [first] = members;
    if (this.omitsNulls && first && !('constant' in first) && first.field !== table.idField) return false;
    this.append('{');
    const areAdded = members.every((member, i) => {
      const name = `${i ? ',' : ''}${JSON.stringify(member.key)}:`;
      if ('constant' in member) {
        this.append(name + JSON.stringify(member.constant));
        return true;
      }
      const { field, json } = member;
      return json ? this.addRelation(name, table, field, json) : this.addColumn(name, table, field);
    });
    this.append('}');
    return areAdded;
  }

  private addRelation<Row>(name: string, table: Table<Row>, field: string, json: RowJson): boolean {
    const relation = table.relations[field];
    // Nested joins are not supported.
    if (!relation || json.members.some((member) => 'json' in member && member.json)) return false;
    const other = relation.table();
    this.relations.add(field);
    if (relation.join !== 'left') {
      this.append(name);
      return this.add(other, json);
    }
    const inner = new RowFormat(this.format);
    if (!inner.add(other, json)) return false;
    const id = columnOf(other, other.idField);
    this.mostBytes += inner.mostBytes;
    this.addOptional(name, `case when ${id} is not null then ${inner.text} end`);
    return inner.values.length <= MAX_VALUES;
  }

  private addColumn<Row>(name: string, table: Table<Row>, field: string): boolean {
    const column = table.columns[field] ?? table.computed?.[field];
    if (!column || column.kind === 'other') return false;
    const { kind, isNullable } = column;
    const value = jsonValueOf(column);
    this.mostBytes += name.length + mostBytesOf(column);
    const isQuoted = QUOTED.has(kind) || (kind === 'id' && this.format.ids === 'string');
    if (isNullable) this.addOptional(name, isQuoted ? `'"' || ${value} || '"'` : value);
    else {
      this.append(isQuoted ? `${name}"` : name);
      this.addValue(value);
      if (isQuoted) this.append('"');
    }
    return true;
  }

  /** A nullable value; `format` omits nulls. */
  private addOptional(name: string, value: string): void {
    if (this.omitsNulls) this.addValue(`${literal(name)} || ${value}`);
    else {
      this.append(name);
      this.addValue(`coalesce(${value}, 'null')`);
    }
  }

  private addValue(value: string): void {
    this.template += '%s';
    this.values.push(value);
  }

  private append(text: string): void {
    this.template += text.replaceAll('%', '%%');
    this.mostBytes += text.length;
  }
}

/** The kinds whose values are JSON strings that need no escaping. */
const QUOTED: ReadonlySet<Column['kind']> = new Set(['enum', 'timestamp', 'date']);

/** The value as in JSON, but for quotes that need no escaping. */
function jsonValueOf({ sql, kind }: Column): string {
  if (kind === 'text') return `to_json(${sql})::text`;
  if (kind === 'date') return `to_char(${sql}, 'YYYY-MM-DD')`;
  return kind === 'timestamp' ? `to_char(${sql} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')` : `${sql}::text`;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
