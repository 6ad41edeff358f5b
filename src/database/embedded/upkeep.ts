import type { PGlite } from '@electric-sql/pglite';
import { vacuum } from './vacuum';

/** Bytes of log after which there is a checkpoint. It takes some 50 ms, in which nothing else runs. */
const LOG_BYTES = 32 * 1024 * 1024;
const EVERY_MS = 5_000;
/** After how many looks at which something had been written it no longer waits for one at which nothing was: ten minutes. */
const MOST_BUSY = 120;

/**
 * Does for the embedded PostgreSQL what PGlite does not have processes for: checkpoints, without which the log would grow as
 * long as the process runs, and so would the recovery after a crash; and {@link vacuum}, without which the tables would.
 */
export class Upkeep {
  /** Whether something has been written since the last look. */
  isDue = false;
  private wasDue = false;
  /** How often something had been written, one look after the other. */
  private busy = 0;
  private readonly timer: NodeJS.Timeout;

  /**
   * @param hasRoom whether there is room to write.
   * @param every how often it looks, in milliseconds.
   */
  constructor(
    private readonly engine: PGlite,
    private readonly hasRoom: () => boolean,
    every = EVERY_MS,
  ) {
    this.timer = setInterval(() => void this.look(), every).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private async look(): Promise<void> {
    const isWritten = this.isDue;
    if (!(isWritten || this.wasDue)) return;
    this.isDue = false;
    this.wasDue = isWritten;
    this.busy = isWritten ? this.busy + 1 : 0;
    const isTime = !isWritten || this.busy % MOST_BUSY === 0;
    try {
      await this.checkpoint();
      if (this.hasRoom()) await vacuum(this.engine, isTime);
    } catch {
      this.isDue = true; // no room, for example, or it is closing
    }
  }

  private async checkpoint(): Promise<void> {
    const { rows } = await this.engine.query<{ bytes: number }>(
      'select (pg_current_wal_insert_lsn() - redo_lsn)::float8 as bytes from pg_control_checkpoint()',
    );
    if ((rows[0]?.bytes ?? 0) > LOG_BYTES) await this.engine.exec('checkpoint');
  }
}
