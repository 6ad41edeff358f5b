import type { PGlite } from '@electric-sql/pglite';

/** Bytes of log after which there is a checkpoint. It takes some 50 ms, in which nothing else runs. */
const LOG_BYTES = 32 * 1024 * 1024;
const EVERY_MS = 5_000;

/**
 * Makes the checkpoints of the embedded PostgreSQL, whose own process for them PGlite does not have: without them the log
 * would grow as long as the process runs, and so would the recovery after a crash.
 */
export class Checkpoints {
  /** Whether something has been written since the last look. */
  isDue = false;
  private held = 0;
  private readonly timer = setInterval(() => void this.look(), EVERY_MS).unref();

  constructor(private readonly engine: PGlite) {}

  /** Keeps the log as it is until the returned function is called. */
  hold(): () => void {
    this.held++;
    return () => {
      this.held--;
    };
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private async look(): Promise<void> {
    if (!this.isDue || this.held) return;
    this.isDue = false;
    try {
      const { rows } = await this.engine.query<{ bytes: number }>(
        'select (pg_current_wal_insert_lsn() - redo_lsn)::float8 as bytes from pg_control_checkpoint()',
      );
      if ((rows[0]?.bytes ?? 0) > LOG_BYTES && !this.held) await this.engine.exec('checkpoint');
    } catch {
      this.isDue = true; // no room, for example, or it is closing
    }
  }
}
