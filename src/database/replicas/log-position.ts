import { BoundedPool } from '../connections/bounded-pool';
import { connectionTo, sessionOf } from '../connections/connection-settings';

/** Time limit for reading a position; including the time to notice a lost connection, a second. */
const PATIENCE_MS = 500;

const WRITTEN = `select pg_current_wal_lsn() - '0/0' as position`;
const REPLAYED = `select case when pg_is_in_recovery() then pg_last_wal_replay_lsn() - '0/0' end as position`;

/**
 * A server's position in the write-ahead log: on a primary what has been written, on a replica what has been replayed.
 * Read on its own connection, so that a busy server is not mistaken for one that lags.
 */
export class LogPosition {
  private readonly pool: BoundedPool;

  private constructor(
    url: string,
    private readonly text: string,
  ) {
    this.pool = new BoundedPool(
      { ...connectionTo(url), idleTimeoutMillis: 0 },
      { size: 1, queue: 1, connectMs: PATIENCE_MS, ...sessionOf(PATIENCE_MS) },
    );
  }

  static ofPrimary(url: string): LogPosition {
    return new LogPosition(url, WRITTEN);
  }

  static ofReplica(url: string): LogPosition {
    return new LogPosition(url, REPLAYED);
  }

  /**
   * Reads the position, in bytes since the beginning of the log, within a second or two.
   * @throws Error if it cannot be read.
   */
  async read(): Promise<bigint> {
    const { rows } = await this.pool.query<{ position: string | null }>(this.text);
    const position = rows[0]?.position;
    if (position) return BigInt(position);
    throw new Error('it is not a streaming replica');
  }

  close(): Promise<void> {
    return this.pool.end();
  }
}
