import {
  type ExecutionResult,
  type FieldNode,
  type GraphQLError,
  type GraphQLField,
  locatedError,
  type ResponsePath,
  responsePathAsArray,
} from 'graphql';
import { TooManyBytes } from '../database/reading/bounded-rows';
import type { Context } from './context';
import { ENVELOPE, errorSize, tooLarge } from './outcome';

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
  /** The bytes of an object's braces, names, colons and commas. */
  readonly bytes: number;
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
 * nearest place that may be null; what arrives later below a nulled place is dropped. Bytes are counted as they are
 * written: once they are too many, all of the response is nulled, and nothing more of it is computed.
 */
export class Run {
  /** The arguments that depend on variables, by slot of the plan. */
  readonly args: Values[] = [];
  private readonly errors: GraphQLError[] = [];
  private data: Values | null = null;
  /** The number of promises that are not settled yet. */
  private pending = 0;
  private onIdle: () => void = () => undefined;
  /** How many more bytes the response may have. */
  private left: number;

  /** @param variables coerced. @param maxBytes of the response. */
  constructor(
    readonly context: Context,
    readonly variables: Values,
    private readonly maxBytes: number,
    readonly rootValue?: unknown,
  ) {
    this.left = maxBytes - ENVELOPE;
  }

  /** @param isSerial whether each root field waits for the one before. Rejects with ProblemError `OPERATION_TOO_COMPLEX`. */
  execute(root: SelectionPlan, isSerial: boolean): Promise<ExecutionResult> {
    this.data = root.blank();
    this.spend(root.bytes);
    const steps = isSerial ? root.fields.map((field) => [field]) : [root.fields];
    return new Promise((resolve, reject) => {
      let started = 0;
      this.onIdle = () => {
        while (this.pending === 0) {
          const fields = steps[started];
          if (!fields || this.data === null) {
            const { data, errors } = this;
            if (this.left >= 0) return resolve(errors.length ? { errors, data } : { data });
            // With an idempotency key, the mutation is rolled back.
            const run = isSerial && !this.context.request.idempotency ? root.fields.slice(0, started) : [];
            return reject(tooLarge(this.maxBytes, errors, run));
          }
          started++;
          this.fill(fields, this.rootValue, this.data);
        }
      };
      this.onIdle();
    });
  }

  /** Counts bytes of the response. @returns whether it goes on. */
  spend(bytes: number): boolean {
    this.left -= bytes;
    if (this.left < 0) this.data = null;
    return this.data !== null;
  }

  /** Resolves the fields of an object. */
  fill(fields: readonly FieldPlan[], source: unknown, target: Values, owner?: Place): void {
    for (const field of fields) {
      if (this.data === null) return;
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
    value.then(
      (arrived) => {
        if (!this.isNulled(owner)) this.complete(arrived, completion, container, key, owner);
        this.settle();
      },
      (error: unknown) => {
        this.fail(error, completion, container, key, owner);
        this.settle();
      },
    );
  }

  private settle(): void {
    if (--this.pending === 0) this.onIdle();
  }

  private complete(value: unknown, completion: Completion, container: Container, key: string | number, owner?: Place) {
    try {
      if (value instanceof Error) throw value;
      if (value !== null && value !== undefined) completion.complete(value, this, container, key, owner);
      else if (completion.isNonNull)
        throw new Error(`Cannot return null for non-nullable field ${completion.coordinate}.`);
      else if (this.spend(4)) write(null, container, key);
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
    const located = locatedError(error, nodes, responsePathAsArray({ prev: owner?.path, key, typename: undefined }));
    this.errors.push(located);
    this.spend(error instanceof TooManyBytes ? this.maxBytes : errorSize(located));
    let place = owner;
    while (place?.completion.isNonNull) place = place.owner;
    if (!isNonNull) write(null, container, key);
    else if (place) {
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
