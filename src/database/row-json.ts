import type { Kind, OptionalKind, Table } from './tables';

/**
 * A row as JSON, with its members in order. The two interfaces serialise rows differently: GraphQL has string ids and
 * null for missing values; REST has integer ids and omits missing values.
 */
export interface Shape {
  readonly spelling: Spelling;
  readonly members: readonly Member[];
  /** Whether only an array of rows is requested. */
  readonly isList?: boolean;
}

export type Spelling = 'graphql' | 'rest';

/** A member and its key: a constant, a column, or a relation to one other row. */
export type Member =
  | { readonly key: string; readonly constant: string }
  | { readonly key: string; readonly field: string; readonly shape?: Shape };

/** Maximum number of values of `format` besides its template (PostgreSQL's FUNC_MAX_ARGS is 100). */
const MAX_VALUES = 99;

/**
 * The SQL that serialises a row as JSON.stringify would, and the relations it needs; `undefined` if the shape requires
 * more than columns and relations to one row.
 */
export function jsonOf<Row>(
  table: Table<Row>,
  shape: Shape,
): { text: string; relations: string[] } | undefined {
  const row = new RowFormat(shape.spelling);
  return row.add(table, shape) && row.values.length <= MAX_VALUES
    ? { text: row.text, relations: [...row.relations] }
    : undefined;
}

/** Builds a call of `format`: concatenation would copy each row several times. */
class RowFormat {
  readonly values: string[] = [];
  readonly relations = new Set<string>();
  private template = '';

  constructor(private readonly spelling: Spelling) {}

  get text(): string {
    return `format(${[literal(this.template), ...this.values].join(', ')})`;
  }

  /** @returns whether everything in the shape could be added. */
  add<Row>(table: Table<Row>, { members }: Shape): boolean {
    // Unless the first member is always present, it is unknown whether a comma is needed.
    const [first] = members;
    if (this.spelling === 'rest' && first && !('constant' in first) && first.field !== table.idField)
      return false;
    this.say('{');
    const areAdded = members.every((member, i) => {
      const name = `${i ? ',' : ''}${JSON.stringify(member.key)}:`;
      if ('constant' in member) {
        this.say(name + JSON.stringify(member.constant));
        return true;
      }
      const { field, shape } = member;
      return shape ? this.addRelation(name, table, field, shape) : this.addColumn(name, table, field);
    });
    this.say('}');
    return areAdded;
  }

  private addRelation<Row>(name: string, table: Table<Row>, field: string, shape: Shape): boolean {
    const relation = table.relations[field];
    const other = relation?.table();
    // Nested joins are not supported.
    if (!relation || !other || shape.members.some((member) => 'shape' in member && member.shape))
      return false;
    this.relations.add(field);
    if (!relation.isOptional) {
      this.say(name);
      return this.add(other, shape);
    }
    const inner = new RowFormat(this.spelling);
    if (!inner.add(other, shape)) return false;
    this.addOptional(name, `case when ${other.columns[other.idField]} is not null then ${inner.text} end`);
    return inner.values.length <= MAX_VALUES;
  }

  private addColumn<Row>(name: string, table: Table<Row>, field: string): boolean {
    const column = table.columns[field];
    const kind = table.kinds[field];
    if (column === undefined || kind === undefined) return false;
    const value = textOf(column, kind);
    const isQuoted = QUOTED[this.spelling].has(baseOf(kind));
    if (isOptional(kind)) this.addOptional(name, isQuoted ? `'"' || ${value} || '"'` : value);
    else {
      this.say(isQuoted ? `${name}"` : name);
      this.addValue(value);
      if (isQuoted) this.say('"');
    }
    return true;
  }

  /** A nullable value; `format` omits nulls. */
  private addOptional(name: string, value: string): void {
    if (this.spelling === 'rest') this.addValue(`${literal(name)} || ${value}`);
    else {
      this.say(name);
      this.addValue(`coalesce(${value}, 'null')`);
    }
  }

  private addValue(value: string): void {
    this.template += '%s';
    this.values.push(value);
  }

  private say(text: string): void {
    this.template += text.replaceAll('%', '%%');
  }
}

const QUOTED: Readonly<Record<Spelling, ReadonlySet<Kind>>> = {
  graphql: new Set<Kind>(['id', 'word', 'moment']),
  rest: new Set<Kind>(['word', 'moment']),
};

function textOf(column: string, kind: Kind | OptionalKind): string {
  switch (baseOf(kind)) {
    case 'text':
      return `to_json(${column})::text`;
    case 'moment':
      return `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
    default:
      return `${column}::text`;
  }
}

function isOptional(kind: Kind | OptionalKind): kind is OptionalKind {
  return kind.endsWith('?');
}

function baseOf(kind: Kind | OptionalKind): Kind {
  return (isOptional(kind) ? kind.slice(0, -1) : kind) as Kind;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
