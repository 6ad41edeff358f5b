import type { Pool } from 'pg';
import type { Server } from '../../postgres/database-server';
import { ownConnection } from '../connections/connection-settings';

/** Time limit for reading a position; including the time to notice a lost connection, a second. */
const PATIENCE_MS = 500;

/** What a primary has written, and what a replica has replayed. */
const POSITIONS = {
  primary: `select pg_current_wal_lsn() - '0/0' as position`,
  replica: `select case when pg_is_in_recovery() then pg_last_wal_replay_lsn() - '0/0' end as position`,
};

/** A server's position in the write-ahead log, read on its own connection. */
export class LogPosition {
  private readonly pool: Pool;

  constructor(
    private readonly server: Server,
    private readonly role: keyof typeof POSITIONS,
  ) {
    this.pool = ownConnection(server, PATIENCE_MS);
  }

  /**
   * Reads the position, in bytes since the beginning of the log, within a second or two.
   * @throws Error if it cannot be read.
   */
  async read(): Promise<bigint> {
    if (this.server.hosts.length === 1) return this.ask();
    return this.ask().catch(async () => {
      await this.server.locate();
      return this.ask();
    });
  }

  private async ask(): Promise<bigint> {
    const { rows } = await this.pool.query<{ position: string | null }>(POSITIONS[this.role]);
    const position = rows[0]?.position;
    if (position) return BigInt(position);
    throw new Error('it is not a streaming replica');
  }

  close(): Promise<void> {
    return this.pool.end();
  }
}
