import { Client, type ClientConfig } from 'pg';
import { FORMATS } from '../session-settings';
import { connectionOf, setUp } from './connection-settings';
import { type ConnectionString, parseConnectionString } from './connection-string';

/**
 * SQL that fails on a read-only server with the SQLSTATE of `cannot_connect_now`, so that the server counts as unavailable.
 */
const REJECT_READ_ONLY = `do $$ begin
  if current_setting('transaction_read_only') = 'on' then
    raise exception 'it is read-only' using errcode = '57P03';
  end if;
end $$`;

/** How long the server has to close a connection, in milliseconds. */
const CLOSE_MS = 1_000;
/** How often the server looks whether the client of a long migration still exists. */
const CHECK_CLIENT = "set client_connection_check_interval to '2s'";

/** The PostgreSQL server at a URL. Its {@link Client} opens connections to it. */
export class PostgresServer {
  /** Host, port and database, without user and password: `db.example.org:5432/petstore`. */
  readonly place: string;
  /** The class of connections to this server. The class supplies the server's address, so callers do not pass it. */
  readonly Client: typeof Client;
  /**
   * The SQL that every new connection runs first. It fails on a read-only server if the URL requires a server that accepts
   * writes.
   */
  readonly preamble: string;
  /** Whether a pooler assigns a server connection to each transaction. Settings then do not last for a session. */
  readonly isPooled: boolean;
  private readonly string: ConnectionString;
  private config: ClientConfig;

  /** @throws Error as {@link parseConnectionString}. */
  constructor(url: string) {
    this.string = parseConnectionString(url);
    this.place = this.string.place;
    this.isPooled = this.string.isPooled;
    this.preamble = this.string.mustTakeWrites ? `${FORMATS}; ${REJECT_READ_ONLY}` : FORMATS;
    this.config = this.string.config();
    const server = this;
    this.Client = class extends Client {
      constructor(config?: ClientConfig) {
        super({ ...config, ...server.configNow() });
        // The failed statement rejects with the error. Without a listener, this event would crash the process.
        this.on('error', () => undefined);
      }

      /** Closes the connection. A server that is silent does not delay this for long. */
      override end(): Promise<void>;
      override end(callback: (error: Error) => void): void;
      override end(callback?: (error: Error) => void): Promise<void> | undefined {
        const { stream } = connectionOf(this);
        const late = setTimeout(() => stream.destroy(), CLOSE_MS);
        stream.once('close', () => clearTimeout(late));
        if (callback) super.end(callback);
        else return super.end();
      }
    };
  }

  /**
   * Returns the options for a new connection. If the certificates cannot be read, for example while they are being replaced,
   * the options contain the previous certificates.
   */
  configNow(): ClientConfig {
    try {
      this.config = this.string.config();
    } catch {
      // `this.config` still has the previous certificates.
    }
    return { application_name: 'petstore-gateway', ...this.config, keepAlive: true };
  }

  /**
   * Opens a connection for migrations, outside the pools. If this process is killed, the server ends the running statement.
   * @param ms time limit for connecting, and for the check that the server accepts writes, in milliseconds.
   */
  async connect(ms: number): Promise<Client> {
    const client = await new this.Client({ connectionTimeoutMillis: ms }).connect();
    try {
      await setUp(client, this.preamble, ms);
      // PostgreSQL before version 14 does not know this setting, and some systems do not support it.
      if (!this.isPooled) await setUp(client, CHECK_CLIENT, ms).catch(() => undefined);
    } catch (error) {
      await client.end();
      throw error;
    }
    return client;
  }
}
