import type { Client } from 'pg';

/**
 * Selects the tables in which over 1,000 rows plus a fifth of all rows have changed since the last vacuum, similar to
 * autovacuum. `isUrgent` marks tables with over 10,000 more dead rows than live rows. Selects no tables while the disk
 * is full.
 */
const CHANGED = `select relid::regclass as table, n_dead_tup > rows + 10000 as "isUrgent"
from (
  select relid, n_dead_tup, n_mod_since_analyze, greatest(reltuples, n_live_tup) as rows
  from pg_stat_user_tables join pg_class on pg_class.oid = relid
) as tables
where n_mod_since_analyze > 0.2 * rows + 1000
  and current_setting('transaction_read_only') = 'off'`;

/**
 * Replaces autovacuum, which PGlite does not have: makes the space of dead rows reusable, and updates the planner's
 * statistics. A vacuum takes milliseconds, or seconds if a million rows have changed. No other statement runs during this
 * time.
 * @param isTime whether to vacuum all changed tables. Otherwise only urgent tables are vacuumed.
 */
export async function vacuum(client: Client, isTime: boolean): Promise<void> {
  await client.query('select pg_stat_force_next_flush()'); // includes the changes of the last second
  const { rows } = await client.query<{ table: string; isUrgent: boolean }>(CHANGED);
  for (const { table, isUrgent } of rows) if (isTime || isUrgent) await client.query(`vacuum (analyze) ${table}`);
}
