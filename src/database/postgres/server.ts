import type { Client, ClientBase, Connection, PoolClient } from 'pg';
import type { Deadline } from '../deadline';
import type { Release } from '../fair-semaphore';

/** A database that node-postgres connects to: a PostgreSQL server, or the embedded database. */
export interface Server {
  /** The class of connections to this server. It knows the server's address, so the address is not an option. */
  readonly Client: typeof Client;
  /**
   * The SQL that a new connection runs first. It fails on a read-only server, if the URL requires one that accepts writes.
   */
  readonly requirement: string;
  /** Whether a pooler assigns a connection for each transaction, so that no setting lasts for a session. */
  readonly isPooled: boolean;
  /**
   * Whether the server may be unreachable. If not, a server that does not respond is only busy, and its connections are
   * kept.
   */
  readonly isRemote: boolean;
  /** The SQL that a connection for requests runs first. @param ms the time limit of its statements, in milliseconds. */
  settings(ms: number): string;
  /**
   * Ends the statement on a connection that was checked out, if the deadline ends before the connection is released.
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
