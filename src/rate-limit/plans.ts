/** A caller's plan (specification, section 8). ENTERPRISE has no entry in {@link PLANS}: its quota is agreed per key. */
export type Plan = 'FREE' | 'PRO' | 'BUSINESS' | 'ENTERPRISE';

/** A caller's limits: whole numbers of requests, at least 1. */
export interface Quota {
  readonly perMinute: number;
  readonly perDay: number;
}

export const PLANS: Readonly<Record<Exclude<Plan, 'ENTERPRISE'>, Quota>> = {
  FREE: { perMinute: 60, perDay: 1000 },
  PRO: { perMinute: 300, perDay: 10_000 },
  BUSINESS: { perMinute: 1000, perDay: 100_000 },
};

/** How long each window of a quota lasts, in seconds. */
export const WINDOWS = { minute: 60, day: 86_400 } as const;

/** The same in milliseconds, the unit of every clock here. */
export const MINUTE_MS = WINDOWS.minute * 1000;
export const DAY_MS = WINDOWS.day * 1000;

/** Requests free of quota are limited too: per minute, to this multiple of the plan's per-minute limit. */
export const FREE_FACTOR = 10;
