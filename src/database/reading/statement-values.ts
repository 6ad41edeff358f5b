import { type Column, castTo } from './table';

/** A condition of SQL, whose values are added to the statement's. */
export type Condition = (values: Values) => string;

/** The values of a statement's parameters, in the order in which they are added. */
export class Values {
  readonly list: unknown[] = [];

  /** Adds a value. @returns its parameter: `$1::bigint`. */
  add(value: unknown, cast: string): string {
    this.list.push(value);
    return `$${this.list.length}${cast}`;
  }

  /** Adds a value that the planner does not know, even if it plans for the values: the plan is the same for all. */
  hidden(value: unknown, cast: string): string {
    return `(select ${this.add(value, cast)})`;
  }

  /** Adds a hidden value of a column. */
  of(column: Column, value: unknown): string {
    return this.hidden(value, castTo(column));
  }

  /** Adds an array of values of a column. */
  allOf(column: Column, values: readonly unknown[]): string {
    return this.add(values, castTo(column, '[]'));
  }
}
