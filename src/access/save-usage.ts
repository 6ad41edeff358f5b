import type { Database, Session } from '../database/database';
import { statement } from '../database/statement';
import type { DailyUsage } from './daily-usage';

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
