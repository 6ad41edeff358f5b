import type { Window } from '../../src/rate-limit/limit-status';
import type { BanRules, RequestKind, Verdict } from '../../src/rate-limit/rules';

/** Waits `wait` ms (if it is negative, the clock is set back), then sends a request `times` times. Every response must match `is`. */
export interface Step {
  readonly wait?: number;
  readonly times?: number;
  readonly ask: RequestKind | 'peek' | 'lift';
  readonly cost?: number;
  /** The plan from this step on, as [perMinute, perDay]. */
  readonly quota?: readonly [number, number];
  readonly is?: Partial<Answer>;
}

/** A limit status with times in ms from now, or the result of lifting a ban. */
export interface Answer {
  readonly verdict: Verdict;
  readonly minute: number;
  readonly day: number;
  readonly minuteResetIn: number;
  readonly dayResetIn: number;
  readonly inForce: Window['name'];
  readonly remaining: number;
  readonly retryAfterMs: number | undefined;
  readonly bannedIn: number | undefined;
  readonly lifted: boolean;
}

export const BANS: BanRules = { banAfter: 20, banSeconds: 60, banMaxSeconds: 3600 };

const MINUTE = 60_000;
const DAY = 86_400_000;
const allowed = { verdict: 'allowed' } as const;
const limited = { verdict: 'limited' } as const;
const banned = { verdict: 'banned' } as const;

const useUpMinute: Step = { ask: 'counted', times: 60, is: allowed };
const getBanned: Step = { ask: 'counted', times: 20, is: limited };

/** Requirements, each with steps that test it. Until a step sets a `quota`, the plan is Free: 60 a minute, 1000 a day. */
export const SCENARIOS: Readonly<Record<string, readonly Step[]>> = {
  'a new caller has its full quota until its first counted request starts the windows': [
    { ask: 'peek', is: { ...allowed, minute: 60, day: 1000, minuteResetIn: MINUTE, dayResetIn: DAY } },
    { ask: 'peek', wait: 5000, is: { inForce: 'minute', minuteResetIn: MINUTE, dayResetIn: DAY } },
  ],
  'windows start at the first counted request and end a minute and a day later': [
    { ask: 'counted', is: { minute: 59, day: 999, minuteResetIn: MINUTE, dayResetIn: DAY } },
    { ask: 'counted', wait: 59_999, is: { minute: 58, day: 998, minuteResetIn: 1, dayResetIn: DAY - 59_999 } },
    { ask: 'peek', wait: 1, is: { minute: 60, day: 998, minuteResetIn: MINUTE } },
    { ask: 'counted', wait: 7, is: { minute: 59, day: 997, minuteResetIn: MINUTE } },
    { ask: 'peek', wait: DAY - MINUTE - 8, is: { minute: 60, day: 997, dayResetIn: 1 } },
    { ask: 'peek', wait: 1, is: { minute: 60, day: 1000, dayResetIn: DAY } },
  ],
  'the 61st request in a minute is rejected until the minute ends': [
    useUpMinute,
    { ask: 'counted', wait: 10_000, is: { ...limited, retryAfterMs: 50_000, inForce: 'minute', remaining: 0 } },
    { ask: 'counted', wait: 49_999, is: { ...limited, retryAfterMs: 1 } },
    { ask: 'counted', wait: 1, is: { ...allowed, minute: 59, retryAfterMs: undefined } },
  ],
  'a request is either allowed and charged its full cost, or rejected and charged nothing': [
    { ask: 'counted', cost: 58, is: { ...allowed, minute: 2, day: 942 } },
    { ask: 'counted', cost: 3, is: { ...limited, minute: 2, day: 942, inForce: 'minute', remaining: 2 } },
    { ask: 'counted', cost: 2, is: { ...allowed, minute: 0, day: 940 } },
  ],
  'requests rejected by the minute window do not use the quota of the day': [
    useUpMinute,
    { ask: 'counted', times: 19, is: { ...limited, day: 940 } },
  ],
  'requests rejected by the day window do not use the quota of the minute': [
    { ask: 'counted', quota: [60, 70], cost: 60, is: allowed },
    { ask: 'counted', wait: MINUTE, cost: 8, is: { ...allowed, minute: 52, day: 2, inForce: 'day' } },
    { ask: 'counted', cost: 3, times: 5, is: { ...limited, minute: 52, day: 2, inForce: 'day', remaining: 2 } },
    { ask: 'counted', cost: 3, is: { ...limited, retryAfterMs: DAY - MINUTE } },
  ],
  'if both windows reject a request, the longer wait is reported': [
    { ask: 'counted', quota: [60, 60], times: 60, is: allowed },
    { ask: 'counted', is: { ...limited, inForce: 'day', retryAfterMs: DAY } },
    { ask: 'counted', wait: DAY, is: allowed },
  ],
  'if both windows reject a request and the day ends first, the reported wait lasts until the minute ends': [
    { ask: 'counted', quota: [60, 61], is: allowed },
    { ask: 'counted', wait: DAY - 10_000, cost: 60, is: { ...allowed, minute: 0, day: 0, inForce: 'minute' } },
    { ask: 'counted', is: { ...limited, inForce: 'minute', retryAfterMs: MINUTE } },
    { ask: 'counted', wait: 10_000, is: { ...limited, inForce: 'minute', retryAfterMs: 50_000, day: 61 } },
    { ask: 'counted', wait: 50_000, is: allowed },
  ],
  'the window in force is the window with fewer remaining requests, or the minute if both have the same number': [
    { ask: 'peek', quota: [60, 59], is: { inForce: 'day', remaining: 59 } },
    { ask: 'peek', quota: [60, 60], is: { inForce: 'minute', remaining: 60 } },
  ],
  'a request that costs more than the limit of a window is too expensive; it uses no quota and leads to no ban': [
    { ask: 'counted', cost: 61, times: 30, is: { verdict: 'too-expensive', minute: 60, day: 1000 } },
    { ask: 'counted', cost: 60, is: { ...allowed, retryAfterMs: undefined } },
    { ask: 'counted', quota: [60, 10], cost: 11, is: { verdict: 'too-expensive', retryAfterMs: undefined } },
  ],
  'free requests are charged nothing and start no window': [
    { ask: 'free', times: 100, is: { ...allowed, minute: 60, day: 1000 } },
    { ask: 'peek', wait: 5000, is: { minuteResetIn: MINUTE, dayResetIn: DAY } },
    useUpMinute,
    { ask: 'free', is: { ...allowed, minute: 0, inForce: 'minute' } },
  ],
  'free requests are limited to ten times the minute limit, in a separate window': [
    { ask: 'free', times: 600, is: allowed },
    { ask: 'counted', wait: 20_000, cost: 59, is: allowed },
    { ask: 'free', is: { ...limited, inForce: 'uncounted', remaining: 0, retryAfterMs: 40_000 } },
    { ask: 'counted', is: { ...allowed, minute: 0 } },
    { ask: 'free', is: { ...limited, inForce: 'uncounted', retryAfterMs: 40_000, minute: 0 } },
    { ask: 'free', wait: 40_000, is: allowed },
  ],
  'the 20th rejection bans the caller for 60 seconds, even from free requests': [
    useUpMinute,
    { ask: 'counted', wait: 30_000, times: 19, is: { ...limited, retryAfterMs: 30_000, bannedIn: undefined } },
    { ask: 'counted', is: { ...limited, retryAfterMs: 60_000, bannedIn: 60_000 } },
    { ask: 'counted', wait: 1000, is: { ...banned, retryAfterMs: 59_000, bannedIn: 59_000 } },
    { ask: 'free', is: { ...banned, retryAfterMs: 59_000 } },
    { ask: 'counted', cost: 1000, is: banned },
    { ask: 'peek', is: { ...banned, bannedIn: 59_000 } },
    { ask: 'counted', wait: 29_000, cost: 1000, is: { ...banned, retryAfterMs: 30_000, minute: 60 } },
    { ask: 'counted', wait: 29_999, is: { ...banned, retryAfterMs: 1 } },
    { ask: 'counted', wait: 1, is: { ...allowed, minute: 59, bannedIn: undefined } },
  ],
  'a banned caller can still load web pages, up to the limit of free requests': [
    useUpMinute,
    { ask: 'page', times: 590, is: { ...allowed, bannedIn: undefined } },
    getBanned,
    { ask: 'page', times: 10, is: { ...allowed, minute: 0, bannedIn: MINUTE, retryAfterMs: undefined } },
    { ask: 'page', wait: 1000, times: 30, is: { ...banned, bannedIn: 59_000, retryAfterMs: 59_000 } },
    { ask: 'counted', wait: 59_000, is: { ...allowed, bannedIn: undefined } },
  ],
  'rejections of free requests also lead to a ban': [
    { ask: 'free', times: 600, is: allowed },
    { ask: 'free', times: 20, is: limited },
    { ask: 'counted', is: { ...banned, minute: 60 } },
  ],
  'if the window of the used-up quota ends later than the ban, the caller must wait until the window ends': [
    { ask: 'counted', quota: [60, 60], times: 60, is: allowed },
    { ask: 'counted', times: 20, is: { ...limited, retryAfterMs: DAY } },
    { ask: 'counted', wait: 10_000, is: { ...banned, retryAfterMs: DAY - 10_000, bannedIn: 50_000, inForce: 'day' } },
    { ask: 'free', is: { ...banned, retryAfterMs: DAY - 10_000 } },
  ],
  'requests during a ban neither extend the ban nor count towards the next ban': [
    useUpMinute,
    getBanned,
    { ask: 'counted', wait: 1000, times: 100, is: { ...banned, bannedIn: 59_000 } },
    { ask: 'peek', wait: 59_000, is: { ...allowed, minute: 60, day: 940 } },
    useUpMinute,
    { ask: 'counted', times: 20, is: limited },
  ],
  'each further ban within a day lasts twice as long, up to an hour': [
    ...[60, 120, 240, 480, 960, 1920, 3600, 3600].flatMap<Step>((seconds) => [
      { ...useUpMinute, quota: [60, 100_000] },
      { ...getBanned, times: 19 },
      { ask: 'counted', is: { ...limited, bannedIn: seconds * 1000 } },
      { ask: 'peek', wait: seconds * 1000, is: allowed },
    ]),
    { ...useUpMinute, wait: DAY },
    { ...getBanned, times: 19 },
    { ask: 'counted', is: { ...limited, bannedIn: 60_000 } },
  ],
  'a ban less than a day after the previous ban lasts twice as long; a ban a day later lasts 60 seconds': [
    ...[DAY - 1, DAY - 1, DAY].flatMap<Step>((wait, i) => [
      { ...useUpMinute, quota: [60, 100_000] },
      { ...getBanned, times: 19 },
      { ask: 'counted', is: { ...limited, bannedIn: 60_000 * 2 ** i } },
      { ask: 'peek', wait, is: allowed },
    ]),
    useUpMinute,
    { ...getBanned, times: 19 },
    { ask: 'counted', is: { ...limited, bannedIn: 60_000 } },
  ],
  'rejections stop counting towards a ban when the window that rejected the requests ends': [
    useUpMinute,
    { ask: 'counted', times: 19, is: limited },
    { ...useUpMinute, wait: MINUTE },
    { ask: 'counted', times: 19, is: { ...limited, bannedIn: undefined } },
    { ask: 'counted', is: { ...limited, bannedIn: 60_000 } },
  ],
  'rejections by the day window count towards a ban until the day ends': [
    { ask: 'counted', quota: [60, 60], times: 60, is: allowed },
    { ask: 'counted', wait: 3_600_000, times: 10, is: limited },
    { ask: 'counted', wait: 3_600_000, times: 10, is: limited },
    { ask: 'counted', is: banned },
  ],
  'a rejection by the minute window does not make earlier rejections by the day window expire sooner': [
    { ask: 'counted', quota: [60, 61], cost: 60, is: allowed },
    { ask: 'counted', wait: MINUTE, is: { ...allowed, minute: 59, day: 0 } },
    { ask: 'counted', times: 10, is: { ...limited, inForce: 'day' } },
    { ask: 'counted', quota: [1, 1000], is: { ...limited, inForce: 'minute' } },
    { ask: 'counted', wait: MINUTE, quota: [60, 61], times: 8, is: { ...limited, bannedIn: undefined } },
    { ask: 'counted', is: { ...limited, bannedIn: 60_000 } },
  ],
  'a lifted ban ends at once; the next ban is still twice as long': [
    { ask: 'lift', is: { lifted: false } },
    useUpMinute,
    getBanned,
    { ask: 'lift', wait: 1000, is: { lifted: true } },
    { ask: 'lift', is: { lifted: false } },
    { ask: 'free', is: allowed },
    { ask: 'counted', times: 19, is: { ...limited, retryAfterMs: 59_000 } },
    { ask: 'counted', is: { ...limited, bannedIn: 120_000 } },
    { ask: 'lift', wait: 120_000, is: { lifted: false } },
  ],
  // The clock of a machine is set back by seconds (NTP), by hours (a wrong time zone) or by years (an empty battery). Tested
  // with the shortest step, the lengths of the windows, and a long step.
  ...Object.fromEntries(
    [1, MINUTE, DAY, 365 * DAY].flatMap((step): [string, Step[]][] => [
      [
        `after the clock is set back by ${step} ms, a used-up window is over`,
        [useUpMinute, { ask: 'counted', wait: -step, is: { ...allowed, minute: 59, minuteResetIn: MINUTE } }],
      ],
      [
        `after the clock is set back by ${step} ms, a used-up day is over`,
        [
          { ask: 'counted', quota: [60, 60], times: 60, is: allowed },
          { ask: 'counted', wait: -step, is: { ...allowed, day: 59, dayResetIn: DAY } },
        ],
      ],
      [
        `after the clock is set back by ${step} ms, used-up free requests are back`,
        [
          { ask: 'free', times: 600, is: allowed },
          { ask: 'free', wait: -step, is: allowed },
        ],
      ],
      [
        `after the clock is set back by ${step} ms, a ban is over, and the rejections before it are forgotten`,
        [
          { ...useUpMinute, quota: [60, 100_000] },
          getBanned,
          { ask: 'peek', wait: -step, is: { ...allowed, bannedIn: undefined } },
          useUpMinute,
          { ask: 'counted', times: 19, is: { ...limited, bannedIn: undefined } },
          { ask: 'counted', is: { ...limited, bannedIn: MINUTE } },
        ],
      ],
      [
        `after the clock is set back by ${step} ms, earlier rejections no longer lead to a ban`,
        [
          { ...useUpMinute, quota: [60, 100_000] },
          { ask: 'counted', times: 19, is: limited },
          { ...useUpMinute, wait: -step },
          { ask: 'counted', times: 19, is: { ...limited, bannedIn: undefined } },
        ],
      ],
      [
        `after the clock is set forward by ${step} ms and back, windows and bans are over`,
        [
          { ask: 'peek', wait: step },
          { ...useUpMinute, quota: [60, 100_000] },
          getBanned,
          { ask: 'counted', wait: -step, is: { ...allowed, minute: 59, bannedIn: undefined } },
        ],
      ],
    ]),
  ),
  'if the clock is set back within a window or ban, nothing lasts longer than its length from then on': [
    { ask: 'counted', is: allowed },
    { ...useUpMinute, wait: 30_000, times: 59 },
    { ...getBanned, is: { ...limited, retryAfterMs: expect.any(Number) } },
    { ask: 'peek', wait: 40_000, is: { ...banned, bannedIn: 20_000 } },
    { ask: 'peek', wait: -10_000, is: { ...banned, bannedIn: 30_000 } },
    { ask: 'peek', wait: -30_001, is: allowed },
  ],
  'a second ban, which lasts two minutes, is over if the clock is set back beyond its start': [
    { ...useUpMinute, quota: [60, 100_000] },
    getBanned,
    { ...useUpMinute, wait: 2 * MINUTE },
    getBanned,
    { ask: 'peek', wait: MINUTE, is: { ...banned, bannedIn: MINUTE } },
    { ask: 'peek', wait: -MINUTE, is: { ...banned, bannedIn: 2 * MINUTE } },
    { ask: 'peek', wait: -1, is: { ...allowed, bannedIn: undefined } },
  ],
  'a higher plan applies at once, and earlier requests count against the new quota': [
    useUpMinute,
    { ask: 'counted', is: limited },
    { ask: 'counted', quota: [300, 10_000], is: { ...allowed, minute: 239, day: 9939 } },
  ],
  'a lower plan applies at once, and the remaining requests are never below zero': [
    { ask: 'counted', quota: [300, 10_000], cost: 200, is: { ...allowed, minute: 100 } },
    { ask: 'counted', quota: [60, 100], is: { ...limited, minute: 0, day: 0, inForce: 'day' } },
  ],
};
