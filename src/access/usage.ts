import type { Database } from '../database/database';
import { statement } from '../database/statement';
import { DAY_MS } from '../rate-limit/plans';

export interface Usage {
  readonly requests: number;
  readonly refused: number;
  readonly bans: number;
}

/** The ids for all anonymous callers together, and for all end users together. No API key has these ids. */
export const ANONYMOUS = '';
export const USERS = 'users';

/** The number of days for which usage is kept. */
export const KEPT_DAYS = 400;

/** Converts a time in milliseconds since the Unix epoch to its day, as the number of days since 1970-01-01 in UTC. */
export function dayOf(time: number): number {
  return Math.floor(time / DAY_MS);
}

interface RecorderOptions {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Called with the error when saving begins to fail, and without arguments when it works again. */
  onState?(error?: unknown): void;
  /**
   * Maximum number of unsaved entries. There is one entry for each caller and day. At this maximum, usage that needs a
   * new entry is not counted.
   */
  readonly maxEntries?: number;
}

/** Interval between saves, in milliseconds. A killed process loses the counts since its last save. */
const FLUSH_MS = 5_000;
/** Time limit of a save, in milliseconds. It is short, since shutdown must not wait for an unreachable database. */
const SAVE_MS = 3_000;

// The `order by` makes all processes lock rows in the same order, so that they do not deadlock.
const SAVE = statement(`insert into usage_days as known (caller, day, requests, refused, bans)
select added.caller, date '1970-01-01' + added.day, added.requests, added.refused, added.bans
from unnest($1::text[], $2::int[], $3::bigint[], $4::bigint[], $5::bigint[]) as added (caller, day, requests, refused, bans)
order by 1, 2
on conflict (caller, day) do update set
  requests = known.requests + excluded.requests, refused = known.refused + excluded.refused, bans = known.bans + excluded.bans`);

type Counts = { -readonly [name in keyof Usage]: Usage[name] };
type Days = Map<number, Map<string, Counts>>;

/**
 * Counts the usage of callers in this process. Every few seconds and at shutdown, one statement adds the counts to the
 * totals in the database. A failed save is retried. If a save succeeded but its response was lost, the retry counts the
 * usage twice.
 */
export class UsageRecorder {
  private days: Days = new Map();
  private entries = 0;
  private timer: NodeJS.Timeout | undefined;
  private saving: Promise<void> | undefined;
  private failingSince: number | undefined;
  private prunedOn = Number.NaN;

  constructor(
    private readonly database: Database,
    private readonly options: RecorderOptions,
  ) {}

  /** Saves the counts regularly, until {@link stop}. */
  start(everyMs = FLUSH_MS): void {
    this.timer = setInterval(() => void this.flush(), everyMs).unref();
  }

  /** The time since saving began to fail, in milliseconds; 0 if the last save succeeded. */
  get unsavedMs(): number {
    return this.failingSince === undefined ? 0 : this.options.now() - this.failingSince;
  }

  /**
   * Counts a decision of the limiter. This function must be cheap, since it is called for every request.
   * @param caller the id of the caller's API key, or {@link USERS}.
   */
  readonly count = (caller = ANONYMOUS, requests: number, refused: number, bans: number): void => {
    this.add(dayOf(this.options.now()), caller, { requests, refused, bans });
  };

  /** Saves all counts. Never rejects. */
  async flush(): Promise<void> {
    // A save in progress does not include the latest counts, so another save must follow.
    await this.saving;
    this.saving ??= this.save().finally(() => {
      this.saving = undefined;
    });
    await this.saving;
  }

  /** Stops the timer and saves the last counts. If this save fails, the counts are lost. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.flush();
  }

  private add(day: number, caller: string, { requests, refused, bans }: Usage): void {
    const counts = this.days.get(day)?.get(caller) ?? this.enter(day, caller);
    if (!counts) return;
    counts.requests += requests;
    counts.refused += refused;
    counts.bans += bans;
  }

  private enter(day: number, caller: string): Counts | undefined {
    if (this.entries >= (this.options.maxEntries ?? 100_000)) return undefined;
    const counts = { requests: 0, refused: 0, bans: 0 };
    const callers = this.days.get(day) ?? new Map<string, Counts>();
    this.days.set(day, callers.set(caller, counts));
    this.entries += 1;
    return counts;
  }

  private async save(): Promise<void> {
    const rows = [...this.days].flatMap(([day, callers]) =>
      [...callers].map(([caller, used]) => ({ caller, day, used })),
    );
    if (!rows.length) return;
    this.days = new Map();
    this.entries = 0;
    const counts = (name: keyof Usage) => rows.map(({ used }) => used[name]);
    const keys = [rows.map(({ caller }) => caller), rows.map(({ day }) => day)];
    try {
      const session = this.database.serviceSession(SAVE_MS);
      await session.write(SAVE, [...keys, counts('requests'), counts('refused'), counts('bans')]);
    } catch (error) {
      for (const { day, caller, used } of rows) this.add(day, caller, used);
      if (this.failingSince === undefined) this.options.onState?.(error);
      this.failingSince ??= this.options.now();
      return;
    }
    if (this.failingSince !== undefined) this.options.onState?.();
    this.failingSince = undefined;
    await this.prune().catch(() => undefined);
  }

  /** Deletes the usage of days before the last `KEPT_DAYS` days, once a day. */
  private async prune(): Promise<void> {
    const today = dayOf(this.options.now());
    if (today === this.prunedOn) return;
    const oldest = new Date((today - KEPT_DAYS) * DAY_MS);
    await this.database.prisma.usageDay.deleteMany({ where: { day: { lt: oldest } } });
    this.prunedOn = today;
  }
}
