import type { Database, Session } from '../database/database';
import { statement } from '../database/statement';
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

/** Counts of one process that are saved together. */
export interface Batch {
  /** Grows with each batch of the process. */
  readonly number: number;
  readonly rows: readonly DailyUsage[];
}

// Whether a batch was saved is not known if the connection is lost meanwhile. It is then sent again, under the same number,
// and a number that was seen adds nothing. Rows are locked in one order, so that processes do not deadlock.
const SAVE = statement(`with fresh as (
  insert into usage_flushes as known (process, number, flushed_at) values ($1::text, $2::bigint, now())
  on conflict (process) do update set number = excluded.number, flushed_at = excluded.flushed_at
  where known.number < excluded.number
  returning 1
)
insert into usage_days as known (caller, day, requests, refused, bans)
select added.caller, date '1970-01-01' + added.day, added.requests, added.refused, added.bans
from fresh, unnest($3::text[], $4::int[], $5::bigint[], $6::bigint[], $7::bigint[])
  as added (caller, day, requests, refused, bans)
order by 1, 2
on conflict (caller, day) do update set
  requests = known.requests + excluded.requests, refused = known.refused + excluded.refused, bans = known.bans + excluded.bans`);

/** Saves a batch, once, however often it is sent. */
export async function saveUsage(session: Session, process: string, { number, rows }: Batch): Promise<void> {
  const column = <Name extends keyof DailyUsage>(name: Name) => rows.map((row) => row[name]);
  const counts = [column('requests'), column('refused'), column('bans')];
  await session.write(SAVE, [process, number, column('caller'), column('day'), ...counts]);
}

/** Deletes what was used before a day, and what is known of processes that have saved nothing since. */
export async function deleteUsage(database: Database, before: Date): Promise<void> {
  await database.prisma.usageDay.deleteMany({ where: { day: { lt: before } } });
  await database.prisma.usageFlush.deleteMany({ where: { flushedAt: { lt: before } } });
}

const DAY = `(usage.day - date '1970-01-01') as day`;
const COUNTS = 'usage.requests, usage.refused, usage.bans';

// One snapshot of both tables: which batches are in the sums is known exactly.
const READ = statement(`select flushed.number, usage.caller, ${DAY}, ${COUNTS}
from (select coalesce(max(number), 0) as number from usage_flushes where process = $1::text) as flushed
left join usage_days as usage on usage.caller = any($2::text[]) and usage.day >= date '1970-01-01' + $3::int`);

const TOP =
  statement(`select caller, sum(requests)::bigint as requests, sum(refused)::bigint as refused, sum(bans)::bigint as bans
from usage_days where day >= date '1970-01-01' + $1::int
group by caller order by 2 desc, 3 desc, 1 limit $2::int`);

type Counted = { readonly [name in keyof Usage]: bigint };

/**
 * Reads what callers used.
 * @param since a day; those from then on are read.
 * @returns the rows, and the number of the last batch of `process` that they include.
 */
export async function readUsage(
  session: Session,
  process: string,
  callers: readonly string[],
  since: number,
): Promise<{ rows: DailyUsage[]; saved: number }> {
  type Joined = Counted & { readonly number: bigint; readonly caller: string | null; readonly day: number };
  const found = await session.query<Joined>(READ, [process, callers, since]);
  const saved = Number(found[0]?.number ?? 0);
  const rows = found.flatMap(({ caller, day, ...counted }) =>
    caller === null ? [] : [{ caller, day, ...countsOf(counted) }],
  );
  return { saved, rows };
}

/** The callers that used most, from a day on. */
export async function readTopCallers(
  session: Session,
  since: number,
  first: number,
): Promise<(Usage & { readonly caller: string })[]> {
  const rows = await session.query<Counted & { readonly caller: string }>(TOP, [since, first]);
  return rows.map((row) => ({ caller: row.caller, ...countsOf(row) }));
}

function countsOf({ requests, refused, bans }: Counted): Usage {
  return { requests: Number(requests), refused: Number(refused), bans: Number(bans) };
}
