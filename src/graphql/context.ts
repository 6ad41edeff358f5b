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

/** Receives what the log and the metrics record about an operation. */
export interface Observer {
  /**
   * Called before an operation runs.
   * @param operation its kind and root field, by their schema names: `query pets`.
   * @param name the client's operation name.
   */
  onOperation(operation: string, name: string | undefined): void;
  /** Called with errors whose details are hidden from the caller. */
  onInternalError(error: unknown): void;
  /** Called with each error that the response reports. */
  onProblem(problem: Told): void;
}

/** An interface through which operations are requested. */
export interface Api {
  readonly name: 'graphql' | 'rest';
  /** How the database may serialize rows for it; `undefined` if it must return columns. */
  readonly json?: JsonFormat;
  /** Whether its variables are coerced already (GraphQL, section 6.1.2). */
  readonly coerces?: true;
}

export const GRAPHQL_API: Api = { name: 'graphql', json: { ids: 'string', nulls: 'null' } };

/** A request, before its document is read. */
export interface OperationRequest {
  readonly session: Session;
  readonly caller: Caller;
  readonly meter: Meter;
  readonly requestId: string;
  readonly observer: Observer;
  readonly api: Api;
  /** Ignored unless the operation is a mutation. */
  readonly idempotency?: IdempotencyRequest;
  /** The condition of the operation's only change: `If-Match`. */
  readonly precondition?: Precondition;
}

/** The context value of one execution of an operation. */
export class Context {
  private made: Loaders | undefined;

  constructor(
    readonly request: OperationRequest,
    /** What the operation costs. */
    readonly charge: Charge,
    /** The session in which it reads and writes. */
    readonly session: Session,
    /** The rows of the pages inside of leaves. */
    readonly nested?: Nested,
    /** The event of a subscription that is answered. */
    readonly event?: object,
  ) {}

  /** Made on demand: most operations load nothing. */
  get loaders(): Loaders {
    this.made ??= this.event ? loadersFor(this.event) : new Loaders();
    return this.made;
  }
}
