import { Client, type ClientBase, type ClientConfig, type Connection } from 'pg';
import { type ConnectionString, parseConnectionString } from './connection-string';

/** Fails as if the server could not be connected to now. */
const REFUSE_READ_ONLY = `do $$ begin
  if current_setting('transaction_read_only') = 'on' then
    raise exception 'it is read-only' using errcode = '57P03';
  end if;
end $$`;

/** The PostgreSQL server that a URL names. Its connections are opened by its {@link Client}. */
export class Server {
  /** Where, without user and password: `db.example.org:5432/petstore`. */
  readonly place: string;
  /** For `new Client(…)` and for pools: options of the connection, but not of where it leads. */
  readonly Client: typeof Client;
  /** The SQL that a new connection runs first: it fails if the URL requires a server that takes writes and this one does not. */
  readonly requirement: string;
  /** Whether a pooler gives its connections for a transaction: nothing lasts for a session then. */
  readonly isPooled: boolean;
  private readonly string: ConnectionString;
  private config: ClientConfig;

  /** @throws Error as {@link parseConnectionString}. */
  constructor(url: string) {
    this.string = parseConnectionString(url);
    this.place = this.string.place;
    this.isPooled = this.string.isPooled;
    this.requirement = this.string.mustTakeWrites ? REFUSE_READ_ONLY : '';
    this.config = this.string.config();
    const server = this;
    this.Client = class extends Client {
      constructor(config?: ClientConfig) {
        super({ ...config, ...server.configNow() });
        // Each failure reaches the statement it concerns; without a listener the event would crash the process.
        this.on('error', () => undefined);
      }
    };
  }

  /** Options of a connection opened now. If certificates are being replaced, the ones before are used. */
  configNow(): ClientConfig {
    try {
      this.config = this.string.config();
    } catch {
      // The certificates read before are still there.
    }
    return { application_name: 'petstore-gateway', ...this.config, keepAlive: true };
  }

  /**
   * Opens a connection outside the pools.
   * @param ms how long connecting may take, and the check that the server takes writes.
   */
  async connect(ms: number): Promise<Client> {
    const client = await new this.Client({ connectionTimeoutMillis: ms }).connect();
    try {
      await setUp(client, this.requirement, ms);
    } catch (error) {
      await client.end();
      throw error;
    }
    return client;
  }
}

/** Runs the first SQL on a new connection, which is destroyed if the server does not respond within `ms` milliseconds. */
export async function setUp(client: ClientBase, sql: string, ms: number): Promise<void> {
  const silent = setTimeout(() => connectionOf(client).stream.destroy(), ms);
  try {
    await client.query(sql);
  } finally {
    clearTimeout(silent);
  }
}

/** All clients are of the class `Client`, unless a pool's configuration says otherwise. */
export function connectionOf(client: ClientBase): Connection {
  return (client as Client).connection;
}
