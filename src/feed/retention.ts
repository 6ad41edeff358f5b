import type { DeleteBatch } from '../database/cleaning';
import { statement } from '../database/statement';

const DAY_MS = 24 * 60 * 60 * 1000;

// Deletes from the beginning of the feed, up to the first event that is kept, so that the remaining positions have no gaps.
const DELETE = statement(`with oldest as (
  select position, at from events where position is not null order by position limit $2::int
), kept as (
  select coalesce(min(position), 9223372036854775807) as first from oldest where at >= $1::timestamptz
), deleted as (
  delete from events using oldest, kept where events.position = oldest.position and oldest.position < kept.first returning 1
)
select count(*)::int as count from deleted`);

/** Deletes events that are older than `days`. Events without a position are kept. @param now milliseconds since the Unix epoch. */
export function deleteOldEvents(days: number, now: () => number): DeleteBatch {
  return async (transaction, limit) => {
    const before = new Date(now() - days * DAY_MS);
    const [deleted] = await transaction.query<{ count: number }>(DELETE, [before, limit]);
    return deleted?.count ?? 0;
  };
}
