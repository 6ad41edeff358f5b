import type { Client } from 'pg';
import { vacuum } from './vacuum';

/** Bytes of log after which there is a checkpoint. It takes some 50 ms, in which nothing else runs. */
const LOG_BYTES = 32 * 1024 * 1024;
const EVERY_MS = 5_000;
/** After how many looks at which something had been written it no longer waits for one at which nothing was: ten minutes. */
const MOST_BUSY = 120;

/** The position of the log, and the bytes since the last checkpoint. */
const LOG = `select pg_current_wal_insert_lsn()::text as position, (pg_current_wal_insert_lsn() - redo_lsn)::float8 as bytes
from pg_control_checkpoint()`;

/**
 * Does for the embedded PostgreSQL what PGlite does not have processes for: checkpoints, without which the log would grow as
 * long as the process runs, and so would the recovery after a crash; and {@link vacuum}, without which the tables would.
 */
export class Upkeep {
  /** The position of the log at the last look. */
  private position: string | undefined;
  private wasWritten = false;
  /** How often something had been written, one look after the other. */
  private busy = 0;
  private looking: Promise<void> | undefined;
  private readonly timer: NodeJS.Timeout;

  /**
   * @param client is used for nothing else.
   * @param every how often it looks, in milliseconds.
   */
  constructor(
    private readonly client: Client,
    every = EVERY_MS,
  ) {
    this.timer = setInterval(() => this.start(), every).unref();
  }

  /** Closes the connection, after what runs. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.looking;
    await this.client.end();
  }

  private start(): void {
    // Without room, for example, it fails; the next look tries again.
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
