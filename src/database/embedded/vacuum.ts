import type { Client } from 'pg';

/**
 * Tables in which a fifth of the rows has changed since they were last vacuumed, as PostgreSQL's own daemon has it; and of those
 * the ones in which more rows are dead than alive. None while the disk is full.
 */
const CHANGED = `select relid::regclass as table, n_dead_tup > rows + 10000 as "isUrgent"
from (
  select relid, n_dead_tup, n_mod_since_analyze, greatest(reltuples, n_live_tup) as rows
  from pg_stat_user_tables join pg_class on pg_class.oid = relid
) as tables
where n_mod_since_analyze > 0.2 * rows + 1000
  and current_setting('transaction_read_only') = 'off'`;

/**
 * Does what autovacuum does, which PGlite does not have: makes the room of dead rows free to be used again, and the planner
 * know the tables. Nothing else runs meanwhile: some milliseconds, and seconds only where a million rows have changed.
 * @param isTime whether all of them are vacuumed. If not, only what has grown to twice its size.
 */
export async function vacuum(client: Client, isTime: boolean): Promise<void> {
  await client.query('select pg_stat_force_next_flush()'); // what was counted within the last second, too
  const { rows } = await client.query<{ table: string; isUrgent: boolean }>(CHANGED);
  for (const { table, isUrgent } of rows) if (isTime || isUrgent) await client.query(`vacuum (analyze) ${table}`);
}
