import { DAY_MS } from '../rate-limit/plans';

/** What a caller has used. */
export interface Usage {
  readonly requests: number;
  readonly refused: number;
  readonly bans: number;
}

/** What a caller has used on a day, which is a number of days since 1970-01-01 in UTC. */
export interface DailyUsage extends Usage {
  /** The id of an API key, or {@link ANONYMOUS}. */
  readonly caller: string;
  readonly day: number;
}

/** Stands for all anonymous callers together. */
export const ANONYMOUS = '';

/** The day of a time in milliseconds of the Unix epoch. */
export function dayOf(time: number): number {
  return Math.floor(time / DAY_MS);
}

/** `2026-11-23` */
export function dateOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}
