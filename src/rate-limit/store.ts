import type { LimitStatus, Subject } from './limit-status';
import type { RequestKind } from './rules';

/**
 * Counts requests. Each operation is atomic: of concurrent requests no more pass than the quota allows. A store that
 * counts in memory returns synchronously, without a promise.
 */
export interface Store {
  /** Takes `cost` requests (at least 1; a `free` request is always one) from both of the caller's windows, or from none. */
  take(subject: Subject, cost: number, kind: RequestKind): LimitStatus | Promise<LimitStatus>;
  /** The caller's status; takes nothing. The verdict is `allowed` unless the caller is banned. */
  peek(subject: Subject): LimitStatus | Promise<LimitStatus>;
  /** Lifts a caller's ban. @returns whether there was one. */
  liftBan(id: string): boolean | Promise<boolean>;
  close(): Promise<void>;
  /** Where requests are currently counted; `fallback`: in memory, since Redis is unreachable. */
  readonly state: 'memory' | 'redis' | 'fallback';
}

/** A store outside this process, which may be unreachable. Operations without a reply in time fail. */
export interface SharedStore extends Store {
  take(subject: Subject, cost: number, kind: RequestKind): Promise<LimitStatus>;
  peek(subject: Subject): Promise<LimitStatus>;
  liftBan(id: string): Promise<boolean>;
  /** Replaces a connection that no longer responds. */
  reconnect(): void;
}
