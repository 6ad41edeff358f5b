import { type ClientBase, type ClientConfig, Connection } from 'pg';

// Members that @types/pg leaves out.
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

/** How long the server may take to receive a request, in milliseconds. */
const PATIENCE_MS = 1_000;

/** Asks the server to cancel statements, one request at a time: each takes a connection for a moment. */
export class CancelRequests {
  private last: Promise<void> = Promise.resolve();

  /** @param config returns where the server is now. */
  constructor(private readonly config: () => ClientConfig) {}

  /** @param isWanted whether the statement still runs, when it is this request's turn. */
  send(client: ClientBase, isWanted: () => boolean): void {
    this.last = this.last.then(() => (isWanted() ? requestCancel(this.config(), client) : undefined));
  }
}

/**
 * Asks the server to cancel the statement that runs on a connection (PostgreSQL documentation, 55.2.9), on a new
 * connection, which the server closes. It does not say whether a statement was running.
 */
function requestCancel(config: ClientConfig, { processID, secretKey }: ClientBase): Promise<void> {
  const { host = '', port = 0, ssl, sslnegotiation } = config;
  const connection = new Connection({ ssl, sslNegotiation: sslnegotiation });
  const silent = setTimeout(() => connection.stream.destroy(), PATIENCE_MS).unref();
  const cancel = () => connection.cancel(processID, secretKey);
  // The caller notices that its statement goes on.
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
