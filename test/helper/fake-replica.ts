import { Client } from 'pg';
import { createDatabase } from './database';
import { TcpProxy } from './tcp-proxy';

/**
 * A database that says of itself that it is a streaming replica, and holds other rows than the primary, so that whoever
 * reads from it is seen. It is as far as the test wants it to be, and a proxy stands before it.
 */
export class FakeReplica {
  private constructor(
    readonly proxy: TcpProxy,
    private readonly direct: Client,
    private readonly drop: () => Promise<void>,
  ) {}

  /** @param name of its one category. */
  static async start(name: string): Promise<FakeReplica> {
    const { url = '', drop } = await createDatabase();
    const direct = new Client({ connectionString: url });
    await direct.connect();
    await direct.query(`
      insert into categories (name) values ('${name}');
      create table replayed (frozen_at pg_lsn);
      insert into replayed values (null);
      create function public.pg_is_in_recovery() returns boolean language sql as 'select true';
      create function public.pg_last_wal_replay_lsn() returns pg_lsn language sql
        as 'select coalesce(frozen_at, pg_catalog.pg_current_wal_lsn()) from public.replayed';
      alter database ${new URL(url).pathname.slice(1)} set search_path = public, pg_catalog`);
    return new FakeReplica(await TcpProxy.start(url), direct, drop);
  }

  get url(): string {
    return this.proxy.url;
  }

  /** Its name in metrics and logs. */
  get name(): string {
    const { host, pathname } = new URL(this.url);
    return host + pathname;
  }

  /** It replays nothing any more. */
  async stopReplaying(): Promise<void> {
    await this.direct.query('update replayed set frozen_at = pg_catalog.pg_current_wal_lsn()');
  }

  async catchUp(): Promise<void> {
    await this.direct.query('update replayed set frozen_at = null');
  }

  /** Runs SQL on it, past the proxy. */
  async sql(text: string): Promise<void> {
    await this.direct.query(text);
  }

  async close(): Promise<void> {
    await this.direct.end();
    await this.proxy.close();
    await this.drop();
  }
}
