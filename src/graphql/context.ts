import type { Caller } from '../access/caller';
import type { Session } from '../database/database';
import type { Meter } from '../rate-limit/meter';
import type { Notice } from './lifecycle-notice';
import type { Charge } from './limits';
import { Loaders } from './loaders';

/** An operation that comes with an idempotency key. */
export interface IdempotencyRequest {
  /** The key as it came. */
  readonly header: string;
  /** The name of a prepared document, which may be worded otherwise in the next version. */
  readonly operation?: string;
}

/** Who watches an operation from outside. */
export interface Observer {
  /**
   * Hears what is about to run.
   * @param operation its kind and root field, in the schema's words: `query pets`.
   * @param name as the client calls it.
   */
  onOperation(operation: string, name: string | undefined): void;
  /** Hears of errors that the caller is not told about. */
  onInternalError(error: unknown): void;
  /** Hears that something which the operation needs is out of reach for now. */
  onUnavailable(): void;
}

/** What one operation runs with. Apollo copies it by its own properties, so it holds nothing private. */
export class Context {
  readonly loaders = new Loaders();
  /** What the operation costs; set before it runs. */
  charge: Charge | undefined;
  /** What it is to run once under, if it changes anything. */
  idempotency: IdempotencyRequest | undefined;
  /** Where all of the operation runs in one transaction: how many of its root fields have succeeded in it. */
  shared: { succeeded: number } | undefined;

  /** What the answer is to tell of deprecated and unsettled things that the operation uses. */
  notice: Notice | undefined;

  /** What the root field of a mutation has come to, where its plan has run it: it runs once. */
  mutated: Promise<unknown> | undefined;

  constructor(
    /** Where it reads and writes; a query may be given another before it runs. */
    public session: Session,
    readonly caller: Caller,
    readonly meter: Meter,
    readonly requestId: string,
    readonly observer: Observer,
    /** Whether errors keep back names of the schema that resemble a wrong one. */
    readonly hidesSuggestions = false,
  ) {}

  /** The same for another run of the operation in `session`, apart from what the first one may still be loading. */
  again(session = this.session): Context {
    return Object.assign(Object.create(Context.prototype), this, {
      session,
      loaders: new Loaders(),
    }) as Context;
  }

  /** The same for a run of the operation in `transaction`. */
  within(transaction: Session): Context {
    const own = { session: transaction, loaders: new Loaders(), shared: { succeeded: 0 } };
    return Object.assign(Object.create(Context.prototype), this, own) as Context;
  }
}
