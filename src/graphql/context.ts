import type { Session } from '../database/database';
import { Loaders } from './loaders';

/** What one operation runs with. Apollo copies it by its own properties, so it holds nothing private. */
export class Context {
  readonly loaders = new Loaders();

  /** @param onInternalError hears of errors that the caller is not told about. */
  constructor(
    readonly session: Session,
    readonly requestId: string,
    readonly onInternalError: (error: unknown) => void,
  ) {}
}
