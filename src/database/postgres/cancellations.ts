import { type ClientBase, type ClientConfig, Connection, type Pool } from 'pg';

// Members that @types/pg does not declare.
declare module 'pg' {
  interface ClientConfig {
    sslNegotiation?: ClientConfig['sslnegotiation'];
  }
  interface ClientBase {
    readonly processID: number;
    readonly secretKey: number;
  }
  interface Connection {
    connect(portOrPath: number | string, host?: string): void;
    requestSsl(): void;
    cancel(processID: number, secretKey: number): void;
  }
}

/** Time limit of a cancel request, in milliseconds. */
const PATIENCE_MS = 1_000;

/**
 * Cancels the statement that runs in the process with this id. Selects no row if the second id is not that of the process that
 * runs this SQL: a pooler between the gateway and the server assigns ids of its own.
 */
const CANCEL = 'select pg_cancel_backend($1) as "isCancelled" where pg_backend_pid() = $2';

/** Cancels running statements, one at a time, since a cancel request briefly opens a connection. */
export class Cancellations {
  private last: Promise<boolean> = Promise.resolve(true);

  /**
   * @param config returns the current options for a connection to the server.
   * @param probe an idle connection that can run a statement to cancel another statement. For a cancel request, the server
   * starts a process, which can cost as much as many reads.
   */
  constructor(
    private readonly config: () => ClientConfig,
    private readonly probe?: Pool,
  ) {}

  /**
   * Cancels the statement on a client's connection.
   * @param isWanted called just before; returns whether the statement still runs.
   * @returns whether the cancellation is certainly over. Otherwise it may still cancel a later statement on the connection.
   */
  cancel(client: ClientBase, isWanted: () => boolean): Promise<boolean> {
    this.last = this.last.then(async () => {
      if (!isWanted() || (await this.cancelByStatement(client))) return true;
      await requestCancel(this.config(), client);
      return false;
    });
    return this.last;
  }

  /** Resolves to false if a pooler is in between, the role may not call the function, or the server does not respond. */
  private async cancelByStatement({ processID }: ClientBase): Promise<boolean> {
    try {
      const prober = await this.probe?.connect();
      if (!prober) return false;
      let hasResponded = false;
      try {
        const { rows } = await prober.query<{ isCancelled: boolean }>(CANCEL, [processID, prober.processID]);
        hasResponded = true;
        return rows[0]?.isCancelled === true;
      } finally {
        prober.release(!hasResponded);
      }
    } catch {
      return false;
    }
  }
}

/**
 * Asks the server to cancel the statement that runs on a client's connection (PostgreSQL documentation, 55.2.9). The request
 * needs a new connection, which the server closes. The server does not report whether it has cancelled a statement.
 */
function requestCancel(config: ClientConfig, { processID, secretKey }: ClientBase): Promise<void> {
  const { host = '', port = 0, ssl, sslnegotiation } = config;
  const connection = new Connection({ ssl, sslNegotiation: sslnegotiation });
  const silent = setTimeout(() => connection.stream.destroy(), PATIENCE_MS).unref();
  const cancel = () => connection.cancel(processID, secretKey);
  // Errors are ignored, since `cancelAtDeadline` checks whether the statement still runs.
  connection.on('error', () => undefined);
  if (!ssl) connection.once('connect', cancel);
  else if (sslnegotiation !== 'direct') connection.once('connect', () => connection.requestSsl());
  connection.once('sslconnect', cancel);
  if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`);
  else connection.connect(port, host);
  return new Promise((resolve) => {
    connection.once('end', () => {
      clearTimeout(silent);
      resolve();
    });
  });
}
