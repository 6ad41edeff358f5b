import type { Client, ClientBase, Connection, PoolClient } from 'pg';
import type { Deadline } from '../deadline';
import type { Release } from '../fair-semaphore';

/** A database that node-postgres connects to: a PostgreSQL server, or the embedded database. */
export interface Server {
  /** The class of connections to this server. The class supplies the server's address, so callers do not pass it. */
  readonly Client: typeof Client;
  /**
   * The SQL that every new connection runs first. It fails on a read-only server if the URL requires a server that accepts
   * writes.
   */
  readonly preamble: string;
  /** Whether a pooler assigns a server connection to each transaction. Settings then do not last for a session. */
  readonly isPooled: boolean;
  /**
   * Whether the server can become unreachable. If it cannot, a server that does not respond is only busy, and the gateway
   * keeps the connections to it.
   */
  readonly isRemote: boolean;
  /**
   * The SQL that a connection for requests runs first; it includes `preamble`.
   * @param ms the time limit of its statements, in milliseconds.
   */
  settings(ms: number): string;
  /**
   * If the deadline passes before a checked-out connection is released, ends the statement on the connection. The embedded
   * database can end only statements that have not started.
   * @param leave called when the connection is free, or closed.
   */
  hold(client: PoolClient, deadline: Deadline, leave: Release): void;
  /** Whether the statement sent on the connection will never run, since its deadline passed before it started. */
  isDropped(client: PoolClient): boolean;
  /** Returns the error to report in place of an error from the server. */
  translate(error: unknown): unknown;
  /** Called when all connections are closed. */
  close(): Promise<void>;
}

/**
 * Runs the first SQL on a new connection. Destroys the connection if the server does not respond within `ms` milliseconds.
 */
export async function setUp(client: ClientBase, sql: string, ms?: number): Promise<void> {
  if (ms === undefined) return void (await client.query(sql));
  const silent = setTimeout(() => connectionOf(client).stream.destroy(), ms);
  try {
    await client.query(sql);
  } finally {
    clearTimeout(silent);
  }
}

/** The connection of a client. `ClientBase` does not declare it, but all clients here are instances of `Client`. */
export function connectionOf(client: ClientBase): Connection {
  return (client as Client).connection;
}
