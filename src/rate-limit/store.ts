import type { Kind } from './rules';
import type { Standing, Subject } from './standing';

/**
 * Where callers are counted. Each operation is atomic: of requests that arrive together no more pass than the quota holds.
 * A store that counts in memory answers at once, without a promise.
 */
export interface Store {
  /** Takes `cost` requests (at least 1; a `free` request is always one) from both of the caller's windows, or from none. */
  take(subject: Subject, cost: number, kind: Kind): Standing | Promise<Standing>;
  /** Where the caller stands; takes nothing. The verdict is `allowed` unless the caller is banned. */
  peek(subject: Subject): Standing | Promise<Standing>;
  /** Ends the ban of a caller; whether there was one. */
  liftBan(id: string): boolean | Promise<boolean>;
  close(): Promise<void>;
  /** Who counts at present; `fallback`: memory, since Redis is out of reach. */
  readonly state: 'memory' | 'redis' | 'fallback';
}

/** A store out of this process, which can be out of reach. What it has no answer for in time fails. */
export interface SharedStore extends Store {
  take(subject: Subject, cost: number, kind: Kind): Promise<Standing>;
  peek(subject: Subject): Promise<Standing>;
  liftBan(id: string): Promise<boolean>;
  /** Gives up a connection that no longer answers, and makes a new one. */
  reconnect(): void;
}
