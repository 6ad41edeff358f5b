import type { Session } from '../database/database';
import type { JsonFormat, Nested } from '../database/reading/selection';
import type { Precondition, Told } from '../errors/errors';
import type { Meter } from '../rate-limit/meter';
import type { Caller } from './caller';
import type { Charge } from './charge';
import { Loaders, loadersFor } from './loaders';

/** The variables of an operation as sent. */
export type Variables = Readonly<Record<string, unknown>>;

/** The idempotency key of an operation. */
export interface IdempotencyRequest {
  /** The raw header value. */
  readonly header: string;
  /** The name of a prepared document, whose text may differ in the next version. */
  readonly operation?: string;
}

/** Receives what is to be logged and measured about an operation. */
export interface Observer {
  /**
   * Called before an operation runs.
   * @param operation its kind and root field, by their schema names: `query pets`.
   * @param name the client's operation name.
   */
  onOperation(operation: string, name: string | undefined): void;
  /** Called with errors whose details are hidden from the caller. */
  onInternalError(error: unknown): void;
  /** Called with each error that the caller is told. */
  onProblem(problem: Told): void;
}

/** An interface that operations come by. */
export interface Api {
  readonly name: 'graphql' | 'rest';
  /** How the database may serialize rows for it; `undefined` if it must return columns. */
  readonly json?: JsonFormat;
  /** Whether it hands over variables that it has coerced itself (GraphQL, section 6.1.2). */
  readonly coerces?: true;
}

export const GRAPHQL_API: Api = { name: 'graphql', json: { ids: 'string', nulls: 'null' } };

/** What is known about a request before its document is read. */
export interface OperationRequest {
  readonly session: Session;
  readonly caller: Caller;
  readonly meter: Meter;
  readonly requestId: string;
  readonly observer: Observer;
  readonly api: Api;
  /** Ignored unless the operation is a mutation. */
  readonly idempotency?: IdempotencyRequest;
  /** What the operation's only change depends on. */
  readonly precondition?: Precondition;
}

/** The context value of one run of an operation. */
export class Context {
  private made: Loaders | undefined;

  constructor(
    readonly request: OperationRequest,
    /** What the operation costs. */
    readonly charge: Charge,
    /** Where it reads and writes. */
    readonly session: Session,
    /** Which rows the pages inside of leaves have. */
    readonly nested?: Nested,
    /** Set if this is the answer to an event of a subscription. */
    readonly event?: object,
  ) {}

  /** Most operations load nothing. */
  get loaders(): Loaders {
    this.made ??= this.event ? loadersFor(this.event) : new Loaders();
    return this.made;
  }
}
