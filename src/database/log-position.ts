import { BoundedPool } from './bounded-pool';
import { connectionTo, sessionOf } from './connection';

/** How long a server may take to tell its position; with what a lost connection takes to be noticed, a second. */
const PATIENCE_MS = 500;

const WRITTEN = `select pg_current_wal_lsn() - '0/0' as position`;
const REPLAYED = `select case when pg_is_in_recovery() then pg_last_wal_replay_lsn() - '0/0' end as position`;

/**
 * How far the write-ahead log of a server has come: of a primary what is written, of a replica what is replayed. Asked on
 * a connection of its own, so that a server with much to do is not taken for one that lags.
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

  /** Bytes since the beginning of the log, in a little more than a second at most. @throws Error when it is not told. */
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
