import type { Session } from '../database';
import { UNOWNED_ROWS, type Visibility } from '../visibility';
import { type Column, columnOf, type Table } from './table';

/** Returns a condition as SQL, and adds its parameters to a statement's values. */
export type Condition = (values: Values) => string;

/** Stands for the parameter with the owner. SQL that is cached contains it, since the parameter has no fixed number. */
const OWNER = '$owner';

/** The values of a statement's parameters, in the order in which they are added, and the rows that the statement may see. */
export class Values {
  readonly list: unknown[] = [];
  private readonly visibility: Visibility;

  constructor({ requester }: Pick<Session, 'requester'>) {
    this.visibility = requester.visibility ?? UNOWNED_ROWS;
  }

  /** Statements of the same text have the same kind of visibility. Part of the keys of caches. */
  get visibilityKind(): Visibility['kind'] {
    return this.visibility.kind;
  }

  /**
   * A table as an item of a FROM clause, without the rows that the session does not see. All SQL that reads rows names tables
   * in this way. PostgreSQL merges the subquery into the statement.
   */
  from(table: Pick<Table<never>, 'name' | 'owner' | 'columns'>): string {
    const { name, owner } = table;
    if (!owner || this.visibilityKind === 'all') return name;
    const isVisible = `${columnOf(table, owner.column)} ${this.visibilityKind === 'owned' ? `= ${OWNER}::text` : 'is null'}`;
    return `(select * from ${name} where ${isVisible}) as ${name}`;
  }

  /** The SQL that joins a table with these relations. */
  joins<Row>(table: Table<Row>, relations: Iterable<string>): string {
    const joins = Array.from(relations, (name) => {
      const relation = table.relations[name];
      if (!relation || relation.join === 'included') return '';
      const { field, join } = relation;
      const other = relation.table();
      return ` ${join} join ${this.from(other)} on ${columnOf(other, other.idField)} = ${columnOf(table, field)}`;
    });
    return (table.joins ?? '') + joins.join('');
  }

  /** Completes the SQL of a statement, once all its values are added. */
  complete(sql: string): string {
    if (this.visibility.kind !== 'owned' || !sql.includes(OWNER)) return sql;
    this.list.push(this.visibility.by);
    return sql.replaceAll(OWNER, `$${this.list.length}`);
  }

  /** Adds a value. @returns its parameter: `$1::bigint`. */
  add(value: unknown, type: string): string {
    this.list.push(value);
    return `$${this.list.length}::${type}`;
  }

  /** Adds a value of a column. */
  of({ type }: Column, value: unknown): string {
    return this.add(value, type);
  }

  /**
   * Adds values of a column as an array. Drivers cannot send an array of an enum type, so each enum value is a separate
   * parameter.
   */
  arrayOf(column: Column, values: readonly unknown[]): string {
    if (column.kind !== 'enum') return this.add(values, `${column.type}[]`);
    return `array[${this.listOf(column, values)}]::${column.type}[]`;
  }

  /** A condition: the column has one of the values. */
  among(column: Column, values: readonly unknown[]): string {
    if (values.length === 1) return `${column.sql} = ${this.of(column, values[0])}`;
    if (column.kind !== 'enum') return `${column.sql} = any(${this.arrayOf(column, values)})`;
    return values.length ? `${column.sql} in (${this.listOf(column, values)})` : 'false';
  }

  private listOf(column: Column, values: readonly unknown[]): string {
    return values.map((value) => this.of(column, value)).join(', ');
  }
}
