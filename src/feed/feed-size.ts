import type { Database } from '../database/database';
import { statement } from '../database/statement';

/** The size of the change feed, for metrics. */
export interface FeedSize {
  /** The number of events that are kept and have positions. */
  readonly kept: number;
  /** The age of the oldest of these events in seconds; 0 without events. */
  readonly oldestSeconds: number;
  /** The number of committed events without positions, at most 100,000. */
  readonly unnumbered: number;
}

// Positions have no gaps, so the number of events follows from the first and the last position.
const SIZE =
  statement(`select (last_event.position - coalesce(oldest.position - 1, last_event.position))::float8 as kept,
  coalesce(extract(epoch from now() - oldest.at), 0)::float8 as "oldestSeconds",
  (select count(*)::int from (select from events where position is null limit 100000) as unnumbered) as unnumbered
from last_event left join (select position, at from events where position is not null order by position limit 1) as oldest on true`);

/** Time limit of reading the size, in milliseconds. Metrics are needed most while the database is slow. */
const LIMIT_MS = 500;

/**
 * Makes a function that reads the size of the feed. Concurrent calls share a query. The function returns `undefined` after a
 * failure, and while requests wait for a connection, since the query would wait in the same queue.
 */
export function feedSizeReader(database: Database): () => Promise<FeedSize | undefined> {
  let reading: Promise<FeedSize | undefined> | undefined;
  const read = async () => {
    try {
      const isBusy = database.load.waiting > 0;
      const [size] = isBusy ? [] : await database.serviceSession(LIMIT_MS).query<FeedSize>(SIZE, [], true);
      return size;
    } catch {
      return undefined;
    } finally {
      reading = undefined;
    }
  };
  return () => {
    reading ??= read();
    return reading;
  };
}
