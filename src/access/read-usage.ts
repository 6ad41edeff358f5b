import type { Session } from '../database/database';
import { statement } from '../database/statement';
import type { DailyUsage, Usage } from './daily-usage';

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
