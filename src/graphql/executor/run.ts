import {
  type ExecutionResult,
  type FieldNode,
  type GraphQLError,
  type GraphQLField,
  locatedError,
  type ResponsePath,
  responsePathAsArray,
} from 'graphql';
import type { Context } from './context';

export type Values = Record<string, unknown>;
/** An object or a list of the response. */
export type Container = Values | unknown[];

/** How the value of a field, or of each item of a list, is completed (GraphQL, section 6.4.3). */
export interface Completion {
  /** The coordinate of the field: `Pet.name`. */
  readonly coordinate: string;
  readonly nodes: readonly FieldNode[];
  readonly isNonNull: boolean;
  /** Writes a value that is not null to its place in the response. @throws any error. */
  complete(value: unknown, run: Run, container: Container, key: string | number, owner?: Place): void;
}

/** A selected field, with everything that is the same in every run. */
export interface FieldPlan extends Completion {
  /** The response key. */
  readonly key: string;
  readonly field: GraphQLField<unknown, unknown>;
  /** `undefined` for leaves. */
  readonly selection: SelectionPlan | undefined;
  /** @param owner where the object that has the field stands; `undefined` for the root. */
  resolve(source: unknown, run: Run, owner?: Place): unknown;
}

export interface SelectionPlan {
  readonly fields: readonly FieldPlan[];
  /** Creates the object for the fields. */
  blank(): Values;
}

/** Where an object or a list stands in the response. */
export class Place {
  isNulled = false;

  constructor(
    readonly completion: Completion,
    readonly container: Container,
    readonly key: string | number,
    readonly owner: Place | undefined,
  ) {}

  get path(): ResponsePath {
    return { prev: this.owner?.path, key: this.key, typename: undefined };
  }
}

/**
 * One run of an operation (GraphQL, section 6). Values are written to their places as they arrive. An error nulls the
 * nearest place that may be null; what arrives later below a nulled place is dropped.
 */
export class Run {
  /** The arguments that depend on variables, by slot of the plan. */
  readonly args: Values[] = [];
  private readonly errors: GraphQLError[] = [];
  private data: Values | null = null;
  /** The number of promises that are not settled yet. */
  private pending = 0;
  private onIdle: () => void = () => undefined;

  /** @param variables coerced. */
  constructor(
    readonly context: Context,
    readonly variables: Values,
    readonly rootValue?: unknown,
  ) {}

  /** @param isSerial whether each root field starts after the one before has been completed. */
  async execute(root: SelectionPlan, isSerial: boolean): Promise<ExecutionResult> {
    this.data = root.blank();
    const steps = isSerial ? root.fields.map((field) => [field]) : [root.fields];
    for (const fields of steps) {
      if (this.data === null) break;
      this.fill(fields, this.rootValue, this.data);
      if (this.pending)
        await new Promise<void>((resolve) => {
          this.onIdle = resolve;
        });
    }
    const { data, errors } = this;
    return errors.length ? { errors, data } : { data };
  }

  /** Resolves the fields of an object. */
  fill(fields: readonly FieldPlan[], source: unknown, target: Values, owner?: Place): void {
    for (const field of fields) {
      try {
        this.put(field.resolve(source, this, owner), field, target, field.key, owner);
      } catch (error) {
        this.fail(error, field, target, field.key, owner);
      }
    }
  }

  /** Completes a value, now or when it arrives. */
  put(value: unknown, completion: Completion, container: Container, key: string | number, owner?: Place) {
    if (!isPromise(value)) return this.complete(value, completion, container, key, owner);
    write(undefined, container, key); // reserves its place in the order of keys
    this.pending++;
    value
      .then(
        (arrived) => {
          if (!this.isNulled(owner)) this.complete(arrived, completion, container, key, owner);
        },
        (error: unknown) => this.fail(error, completion, container, key, owner),
      )
      .then(() => {
        if (--this.pending === 0) this.onIdle();
      });
  }

  private complete(
    value: unknown,
    completion: Completion,
    container: Container,
    key: string | number,
    owner?: Place,
  ): void {
    try {
      if (value instanceof Error) throw value;
      if (value !== null && value !== undefined) completion.complete(value, this, container, key, owner);
      else if (completion.isNonNull)
        throw new Error(`Cannot return null for non-nullable field ${completion.coordinate}.`);
      else write(null, container, key);
    } catch (error) {
      this.fail(error, completion, container, key, owner);
    }
  }

  /** Reports a field error (GraphQL, section 6.4.4). */
  private fail(
    error: unknown,
    { nodes, isNonNull }: Completion,
    container: Container,
    key: string | number,
    owner?: Place,
  ): void {
    if (this.isNulled(owner)) return;
    const path = responsePathAsArray({ prev: owner?.path, key, typename: undefined });
    this.errors.push(locatedError(error, nodes, path));
    if (!isNonNull) {
      write(null, container, key);
      return;
    }
    let place = owner;
    while (place?.completion.isNonNull) place = place.owner;
    if (place) {
      place.isNulled = true;
      write(null, place.container, place.key);
    } else this.data = null;
  }

  private isNulled(owner: Place | undefined): boolean {
    for (let place = owner; place; place = place.owner) if (place.isNulled) return true;
    return this.data === null;
  }
}

/** Sets a member of an object or an item of a list. */
export function write(value: unknown, container: Container, key: string | number): void {
  (container as Record<string | number, unknown>)[key] = value;
}

export function isPromise(value: unknown): value is Promise<unknown> {
  return value instanceof Promise || typeof (value as Promise<unknown> | null | undefined)?.then === 'function';
}
