/** A caller's limits: whole numbers of requests, at least 1. */
export interface Quota {
  readonly perMinute: number;
  readonly perDay: number;
}

/** The plans with a fixed quota (docs/specification.md, "Limits"). */
export const PLANS = {
  FREE: { perMinute: 60, perDay: 1000 },
  PRO: { perMinute: 300, perDay: 10_000 },
  BUSINESS: { perMinute: 1000, perDay: 100_000 },
} satisfies Readonly<Record<string, Quota>>;

/** A caller's plan. The quota of ENTERPRISE is set per key. */
export type Plan = keyof typeof PLANS | 'ENTERPRISE';

/** How long each window of a quota lasts, in seconds. */
export const WINDOWS = { minute: 60, day: 86_400 } as const;

export const MINUTE_MS = WINDOWS.minute * 1000;
export const DAY_MS = WINDOWS.day * 1000;

/** The limit on free requests per minute, as a multiple of the plan's limit on counted requests per minute. */
export const FREE_FACTOR = 10;
