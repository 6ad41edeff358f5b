import type { Client } from 'pg';
import { vacuum } from './vacuum';

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
   * @param client a connection that is used for nothing else.
   * @param every the interval between checks, in milliseconds.
   */
  constructor(
    private readonly client: Client,
    every = EVERY_MS,
  ) {
    this.timer = setInterval(() => this.start(), every).unref();
  }

  /** Waits for a running check, and closes the connection. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.looking;
    await this.client.end();
  }

  private start(): void {
    // A check may fail, for example on a full disk. The next check tries again.
    this.looking ??= this.look()
      .catch(() => undefined)
      .finally(() => {
        this.looking = undefined;
      });
  }

  private async look(): Promise<void> {
    const { rows } = await this.client.query<{ position: string; bytes: number }>(LOG);
    const { position, bytes = 0 } = rows[0] ?? {};
    const isWritten = position !== this.position;
    if (!(isWritten || this.wasWritten)) return;
    this.busy = isWritten ? this.busy + 1 : 0;
    if (bytes > LOG_BYTES) await this.client.query('checkpoint');
    await vacuum(this.client, !isWritten || this.busy % MOST_BUSY === 0);
    this.wasWritten = isWritten;
    this.position = position;
  }
}
