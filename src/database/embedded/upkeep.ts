/** Runs a statement, and returns its rows. */
type RunSql = <Row>(sql: string) => Promise<Row[]>;

/**
 * A checkpoint is made after this many bytes of log. A checkpoint takes about 50 ms, and no other statement runs during this
 * time.
 */
const LOG_BYTES = 32 * 1024 * 1024;
const EVERY_MS = 5_000;
/** Tables are usually vacuumed when writes pause. If writes do not pause, tables are vacuumed after this many checks. */
const MOST_BUSY = 120;

/** Selects the position of the write-ahead log, and how many bytes were written to it since the last checkpoint. */
const LOG = `select pg_current_wal_insert_lsn()::text as position, (pg_current_wal_insert_lsn() - redo_lsn)::float8 as bytes
from pg_control_checkpoint()`;

/**
 * Does the work of PostgreSQL's background processes, which PGlite does not have: checkpoints and {@link vacuum}. Without
 * checkpoints the write-ahead log would grow forever, and recovery after a crash would take longer and longer. Without
 * vacuum the tables would grow.
 */
export class Upkeep {
  /** The position of the write-ahead log at the last check. */
  private position: string | undefined;
  private wasWritten = false;
  /** Number of checks in a row that have found new writes. */
  private busy = 0;
  private looking: Promise<void> | undefined;
  private readonly timer: NodeJS.Timeout;

  /**
   * @param every the interval between checks, in milliseconds.
   */
  constructor(
    private readonly run: RunSql,
    every = EVERY_MS,
  ) {
    this.timer = setInterval(() => this.start(), every).unref();
  }

  /** Waits for a running check. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.looking;
  }

  private start(): void {
    // A check may fail, for example if too many statements wait. The next check tries again.
    this.looking ??= this.look()
      .catch(() => undefined)
      .finally(() => {
        this.looking = undefined;
      });
  }

  private async look(): Promise<void> {
    const [log] = await this.run<{ position: string; bytes: number }>(LOG);
    const { position, bytes = 0 } = log ?? {};
    const isWritten = position !== this.position;
    if (!(isWritten || this.wasWritten)) return;
    this.busy = isWritten ? this.busy + 1 : 0;
    if (bytes > LOG_BYTES) await this.run('checkpoint');
    await vacuum(this.run, !isWritten || this.busy % MOST_BUSY === 0);
    this.wasWritten = isWritten;
    this.position = position;
  }
}

/**
 * Selects the tables in which over 1,000 rows plus a fifth of all rows have changed since the last vacuum, similar to
 * autovacuum. `isUrgent` marks tables with over 10,000 more dead rows than live rows.
 */
const CHANGED = `select relid::regclass as table, n_dead_tup > rows + 10000 as "isUrgent"
from (
  select relid, n_dead_tup, n_mod_since_analyze, greatest(reltuples, n_live_tup) as rows
  from pg_stat_user_tables join pg_class on pg_class.oid = relid
) as tables
where n_mod_since_analyze > 0.2 * rows + 1000`;

/**
 * Replaces autovacuum, which PGlite does not have: makes the space of dead rows reusable, and updates the planner's
 * statistics. A vacuum takes milliseconds, or seconds if a million rows have changed. No other statement runs during this
 * time.
 * @param isTime whether to vacuum all changed tables. Otherwise only urgent tables are vacuumed.
 */
async function vacuum(run: RunSql, isTime: boolean): Promise<void> {
  await run('select pg_stat_force_next_flush()'); // includes the changes of the last second
  const rows = await run<{ table: string; isUrgent: boolean }>(CHANGED);
  for (const { table, isUrgent } of rows) if (isTime || isUrgent) await run(`vacuum (analyze) ${table}`);
}
