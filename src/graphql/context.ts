import type { Caller } from '../access/caller';
import type { Session } from '../database/database';
import type { Meter } from '../rate-limit/meter';
import type { Charge } from './limits';
import { Loaders } from './loaders';

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
}

/** What one operation runs with. Apollo copies it by its own properties, so it holds nothing private. */
export class Context {
  readonly loaders = new Loaders();
  /** What the operation costs; set before it runs. */
  charge: Charge | undefined;

  constructor(
    readonly session: Session,
    readonly caller: Caller,
    readonly meter: Meter,
    readonly requestId: string,
    readonly observer: Observer,
  ) {}
}
