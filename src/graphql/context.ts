import type { Caller } from '../access/caller';
import type { Session } from '../database/database';
import type { Meter } from '../rate-limit/meter';
import type { Charge } from './limits';
import { Loaders } from './loaders';

/** What one operation runs with. Apollo copies it by its own properties, so it holds nothing private. */
export class Context {
  readonly loaders = new Loaders();
  /** What the operation costs; set before it runs. */
  charge: Charge | undefined;

  /** @param onInternalError hears of errors that the caller is not told about. */
  constructor(
    readonly session: Session,
    readonly caller: Caller,
    readonly meter: Meter,
    readonly requestId: string,
    readonly onInternalError: (error: unknown) => void,
  ) {}
}
