import { ANONYMOUS, type DailyUsage, dayOf, type Usage } from './daily-usage';

/** Entries that may wait to be saved: while the database is out of reach they grow with the keys in use, day by day. */
const MAX_ENTRIES = 100_000;

type Counts = { -readonly [name in keyof Usage]: Usage[name] };

/** Counts in memory what callers use, until it is taken to be saved. */
export class UsageCounts {
  private days = new Map<number, Map<string, Counts>>();
  private entries = 0;

  /** @param now milliseconds of the Unix epoch. */
  constructor(
    private readonly now: () => number,
    private readonly maxEntries = MAX_ENTRIES,
  ) {}

  /**
   * Counts a decision of the limiter. It is called for every request: it adds to numbers, and seldom does more.
   * @param caller the id of its API key.
   */
  readonly add = (caller = ANONYMOUS, requests: number, refused: number, bans: number): void => {
    const day = dayOf(this.now());
    const counts = this.days.get(day)?.get(caller) ?? this.enter(day, caller);
    if (!counts) return;
    counts.requests += requests;
    counts.refused += refused;
    counts.bans += bans;
  };

  /** All that was counted since the last call. */
  take(): DailyUsage[] {
    const rows = [...this.rows()];
    this.days = new Map();
    this.entries = 0;
    return rows;
  }

  /** What was counted since then; nothing is taken. */
  *rows(): Iterable<DailyUsage> {
    for (const [day, callers] of this.days) for (const [caller, counts] of callers) yield { caller, day, ...counts };
  }

  private enter(day: number, caller: string): Counts | undefined {
    if (this.entries >= this.maxEntries) return undefined;
    const counts = { requests: 0, refused: 0, bans: 0 };
    const callers = this.days.get(day) ?? new Map<string, Counts>();
    this.days.set(day, callers.set(caller, counts));
    this.entries += 1;
    return counts;
  }
}
