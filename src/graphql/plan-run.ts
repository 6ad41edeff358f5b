import type { Context } from './context';

export type Values = Record<string, unknown>;

/** Thrown for anything but plain success. The operation is then run with graphql-js instead. */
export class GaveUp extends Error {}

export interface FieldPlan {
  readonly key: string;
  resolve(source: unknown, run: Run): unknown;
  readonly complete: Complete;
}

export type Selection = readonly FieldPlan[];
export type Complete = (value: unknown, run: Run) => unknown;

/** One run of a plan. Objects are passed on before all their fields are resolved; the run ends with the last field. */
export class Run {
  finish: () => void = () => undefined;
  /** The number of unsettled promises, plus one for the root. */
  private pending = 1;

  constructor(
    readonly context: Context,
    readonly variables: Values,
    readonly args: (Values | undefined)[],
    readonly fail: (error: unknown) => void,
  ) {}

  fill(selection: Selection, source: unknown, target: Values): void {
    for (const field of selection) {
      const value = field.resolve(source, this);
      if (value instanceof Promise) this.await(field, value, target);
      else target[field.key] = field.complete(value, this);
    }
  }

  settle(): void {
    if (--this.pending === 0) this.finish();
  }

  private await(field: FieldPlan, value: Promise<unknown>, target: Values): void {
    this.pending++;
    target[field.key] = undefined; // reserves its place in the key order
    value
      .then((settled) => {
        target[field.key] = field.complete(settled, this);
        this.settle();
      })
      .catch(this.fail);
  }
}
