import { Client, type ClientConfig } from 'pg';
import { type ConnectionString, type Host, parseConnectionString } from './connection-string';

/** node-postgres hands null or undefined to it if connecting succeeded. */
type Callback = (error?: Error | null) => void;

/** One row, whose column `yes` says whether the server takes writes. */
export const TAKES_WRITES = "select current_setting('transaction_read_only') = 'off' as yes";

/** How long a host may take while others may take its place, in milliseconds. */
const PATIENCE_MS = 1_000;

/** One server, or several of which the one that takes writes is used. Whoever connects to it does so by its `Client`. */
export class Server {
  /** Where, without user and password: `one,two:5433/petstore`. */
  readonly place: string;
  readonly hosts: readonly Host[];
  /** For `new Client(…)` and for pools: options of the connection, but not of where it leads. */
  readonly Client: typeof Client;
  private readonly string: ConnectionString;
  private readonly open = new Set<Client>();
  private current: Host;
  private config: ClientConfig;

  /** @throws Error as {@link parseConnectionString}. */
  constructor(url: string) {
    this.string = parseConnectionString(url);
    const { hosts, place } = this.string;
    this.place = place;
    this.hosts = hosts;
    this.current = hosts[0];
    this.config = this.string.configFor(this.current);
    this.Client = this.clientTo(() => this.current, this.string.mustTakeWrites);
  }

  /** Options of a connection opened now. If certificates are being replaced, the ones before are used. */
  configFor(host = this.current): ClientConfig {
    try {
      this.config = this.string.configFor(host);
    } catch {
      this.config = { ...this.config, host: host.host, port: host.port };
    }
    return { application_name: 'petstore-gateway', ...defined(this.config), keepAlive: true };
  }

  /** A connection of one's own. */
  connect(options: ClientConfig): Promise<Client> {
    return opened(new this.Client(options));
  }

  /**
   * Looks for the host that takes writes, if this one does not, and connects to it from then on. Connections to others are
   * cut: what they lead to is gone, or no longer what has the data.
   * @param ms how long a host may take to connect, and to say whether it takes writes.
   * @throws Error that says of each host why it is not the one.
   */
  async locate(ms = PATIENCE_MS): Promise<void> {
    const refusals: string[] = [];
    const asked = this.hosts.map(async (host) => {
      try {
        await this.ask(host, ms);
        return host;
      } catch (error) {
        refusals.push(`${host.name}: ${(error as Error).message || (error as NodeJS.ErrnoException).code}`);
        throw error;
      }
    });
    const found = await Promise.any(asked).catch(() => undefined);
    if (!found) throw new Error(`none of its hosts takes writes (${refusals.join('; ')})`);
    this.current = found;
    for (const client of this.open) {
      if (client.host !== found.host || client.port !== found.port) client.connection.stream.destroy();
    }
  }

  /** @throws Error if the host does not respond in time, or takes no writes. */
  private async ask(host: Host, ms: number): Promise<void> {
    const HostClient = this.clientTo(() => host, true);
    const client = await opened(new HostClient({ connectionTimeoutMillis: ms, query_timeout: ms }));
    void client.end();
  }

  private clientTo(hostNow: () => Host, mustTakeWrites: boolean): typeof Client {
    const server = this;
    return class extends Client {
      private readonly connectMs: number;

      constructor(config?: ClientConfig) {
        super({ ...config, ...server.configFor(hostNow()) });
        this.connectMs = config?.connectionTimeoutMillis ?? PATIENCE_MS;
        server.open.add(this);
        this.once('end', () => server.open.delete(this));
      }

      override connect(): Promise<this>;
      override connect(callback: Callback): void;
      override connect(callback?: Callback): Promise<this> | undefined {
        const connected = mustTakeWrites ? this.connectToWriter() : super.connect().then(() => this);
        if (!callback) return connected;
        connected.then(() => callback(), callback);
        return undefined;
      }

      private async connectToWriter(): Promise<this> {
        await super.connect();
        // A server may be silent from now on; node-postgres' own time limit is for what was before.
        const silent = setTimeout(() => this.connection.stream.destroy(), this.connectMs);
        try {
          const { rows } = await this.query<{ yes: boolean }>(TAKES_WRITES);
          if (rows[0]?.yes) return this;
          throw readOnly();
        } catch (error) {
          this.connection.stream.destroy();
          throw error;
        } finally {
          clearTimeout(silent);
        }
      }
    };
  }
}

function opened(client: Client): Promise<Client> {
  // Each failure reaches the statement it concerns; without a listener the event would crash the process.
  return client.on('error', () => undefined).connect();
}

/** An error as if the server could not be connected to now. */
function readOnly(): Error {
  return Object.assign(new Error('it is read-only'), { code: '57P03' });
}

function defined<T extends object>(values: T): Partial<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value != null)) as Partial<T>;
}
