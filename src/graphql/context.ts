import type { Caller } from '../access/caller';
import type { Session } from '../database/database';
import type { Meter } from '../rate-limit/meter';
import type { Notice } from './lifecycle-notice';
import type { Charge } from './limits';
import { Loaders } from './loaders';

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
  /** Called when something the operation depends on is temporarily unavailable. */
  onUnavailable(): void;
}

/** The context value of one operation. Apollo copies its own properties, so it has no private ones. */
export class Context {
  readonly loaders = new Loaders();
  /** What the operation costs; set before execution. */
  charge: Charge | undefined;
  /** Its idempotency key; ignored unless it is a mutation. */
  idempotency: IdempotencyRequest | undefined;
  /** Set if the whole operation runs in one transaction: how many of its root fields have succeeded so far. */
  shared: { succeeded: number } | undefined;

  /** What the response reports about deprecated and unstable elements that the operation uses. */
  notice: Notice | undefined;

  /** The result of a mutation's root field if its plan has already run it; it must not run twice. */
  mutated: Promise<unknown> | undefined;

  constructor(
    /** Where it reads and writes; a query may be moved to another session before it runs. */
    public session: Session,
    readonly caller: Caller,
    readonly meter: Meter,
    readonly requestId: string,
    readonly observer: Observer,
    /** Whether errors omit "Did you mean" suggestions of schema names. */
    readonly hidesSuggestions = false,
  ) {}

  /** A copy for running the operation again in `session`, independent of anything the first run is still loading. */
  again(session = this.session): Context {
    return Object.assign(Object.create(Context.prototype), this, {
      session,
      loaders: new Loaders(),
    }) as Context;
  }

  /** A copy for running the operation in `transaction`. */
  within(transaction: Session): Context {
    const own = { session: transaction, loaders: new Loaders(), shared: { succeeded: 0 } };
    return Object.assign(Object.create(Context.prototype), this, own) as Context;
  }
}
