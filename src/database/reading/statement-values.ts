import type { Column } from './table';

/** Returns a condition as SQL, and adds its parameters to a statement's values. */
export type Condition = (values: Values) => string;

/** The values of a statement's parameters, in the order in which they are added. */
export class Values {
  readonly list: unknown[] = [];

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
