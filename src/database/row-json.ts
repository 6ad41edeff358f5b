import type { Kind, OptionalKind, Table } from './tables';

/**
 * A row as JSON: its members in their order. The two faces spell rows otherwise: GraphQL's identifiers are strings and
 * what is not there is null, REST's are integers and what is not there is left out.
 */
export interface Shape {
  readonly spelling: Spelling;
  readonly members: readonly Member[];
  /** Whether nothing but an array of them is asked for. */
  readonly isList?: boolean;
}

export type Spelling = 'graphql' | 'rest';

/** A member under its key: a constant, a column, or a relation to one other row. */
export type Member =
  | { readonly key: string; readonly constant: string }
  | { readonly key: string; readonly field: string; readonly shape?: Shape };

/** As many values as `format` takes, and its template (PostgreSQL's FUNC_MAX_ARGS). */
const MAX_VALUES = 99;

/**
 * The SQL that spells a row as JSON.stringify would, and the relations that it needs; `undefined` where the shape asks for
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

/** A call of `format` as it grows: concatenating piece by piece would copy each row several times. */
class RowFormat {
  readonly values: string[] = [];
  readonly relations = new Set<string>();
  private template = '';

  constructor(private readonly spelling: Spelling) {}

  get text(): string {
    return `format(${[literal(this.template), ...this.values].join(', ')})`;
  }

  /** @returns whether all that the shape asks for could be added. */
  add<Row>(table: Table<Row>, { members }: Shape): boolean {
    // Without a member that is always there in front of it, it would not be known whether a comma is due.
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
    // One that is read along has none read along itself.
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

  /** A value that may be null, which `format` leaves out. */
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
