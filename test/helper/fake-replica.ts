import { Client } from 'pg';
import { createDatabase } from './database';
import { TcpProxy } from './tcp-proxy';

/**
 * A database that claims to be a streaming replica and has different rows from the primary, which makes reads from it
 * visible. The test controls its log position, and it is behind a proxy.
 */
export class FakeReplica {
  private constructor(
    readonly proxy: TcpProxy,
    private readonly direct: Client,
    private readonly restore: () => Promise<void>,
  ) {}

  /** @param name the name of its only category. */
  static async start(name: string): Promise<FakeReplica> {
    const { url = '', drop } = await createDatabase();
    const database = new URL(url).pathname.slice(1);
    const direct = new Client({ connectionString: url });
    await direct.connect();
    await direct.query(`
      insert into categories (name) values ('${name}');
      create table replayed (frozen_at pg_lsn);
      insert into replayed values (null);
      create function public.pg_is_in_recovery() returns boolean language sql as 'select true';
      create function public.pg_last_wal_replay_lsn() returns pg_lsn language sql
        as 'select coalesce(frozen_at, pg_catalog.pg_current_wal_lsn()) from public.replayed';
      alter database ${database} set search_path = public, pg_catalog`);
    // The next test file gets the same database.
    const restore = async () => {
      await direct.query(`
        drop function public.pg_is_in_recovery, public.pg_last_wal_replay_lsn;
        drop table public.replayed;
        alter database ${database} reset search_path`);
      await direct.end();
      await drop();
    };
    return new FakeReplica(await TcpProxy.start(url), direct, restore);
  }

  get url(): string {
    return this.proxy.url;
  }

  /** Its name in metrics and logs. */
  get name(): string {
    const { host, pathname } = new URL(this.url);
    return host + pathname;
  }

  /** Stops replaying the log. */
  async stopReplaying(): Promise<void> {
    await this.direct.query('update replayed set frozen_at = pg_catalog.pg_current_wal_lsn()');
  }

  async catchUp(): Promise<void> {
    await this.direct.query('update replayed set frozen_at = null');
  }

  /** Runs SQL on it, bypassing the proxy. */
  async sql(text: string): Promise<void> {
    await this.direct.query(text);
  }

  async close(): Promise<void> {
    await this.proxy.close();
    await this.restore();
  }
}
