import { type ClientBase, type ClientConfig, Connection } from 'pg';

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

/** Sends cancel requests to the server, one at a time, since each request briefly opens a connection. */
export class CancelRequests {
  private last: Promise<void> = Promise.resolve();

  /** @param config returns the current options for a connection to the server. */
  constructor(private readonly config: () => ClientConfig) {}

  /** @param isWanted called just before the request is sent; returns whether the statement still runs. */
  send(client: ClientBase, isWanted: () => boolean): void {
    this.last = this.last.then(() => (isWanted() ? requestCancel(this.config(), client) : undefined));
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
