import type { Session } from '../database';
import { OWNER, UNOWNED_ROWS, type Visibility, visibilityCondition } from '../visibility';
import { type Column, columnOf, type Table } from './table';

/** Returns a condition as SQL, and adds the values of its parameters to a statement's scope. */
export type Condition = (scope: StatementScope) => string;

/** The scope of a statement that reads rows: the rows that it may see, and the values of its parameters. */
export class StatementScope {
  /** The values of the parameters, in the order in which they are added. */
  readonly values: unknown[] = [];
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
    const { name } = table;
    const condition = visibilityCondition(table, this.visibilityKind);
    return condition === undefined ? name : `(select * from ${name} where ${condition}) as ${name}`;
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
    this.values.push(this.visibility.by);
    return sql.replaceAll(OWNER, `$${this.values.length}`);
  }

  /** Adds a value. @returns its parameter: `$1::bigint`. */
  add(value: unknown, type: string): string {
    this.values.push(value);
    return `$${this.values.length}::${type}`;
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
