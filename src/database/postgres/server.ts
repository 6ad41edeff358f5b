import type { Client, ClientBase, Connection, PoolClient } from 'pg';
import type { Deadline } from '../deadline';
import type { Release } from '../fair-semaphore';

/** A database that node-postgres connects to: a PostgreSQL server, or the embedded database. */
export interface Server {
  /** For `new Client(…)` and for pools: options of the connection, but not of where it leads. */
  readonly Client: typeof Client;
  /** The SQL that a new connection runs first: it fails if the URL requires a server that takes writes and this one does not. */
  readonly requirement: string;
  /** Whether a pooler assigns a connection for each transaction, so that no setting lasts for a session. */
  readonly isPooled: boolean;
  /** Whether it may be unreachable. Otherwise a server that does not respond is busy, and its connections are kept. */
  readonly isRemote: boolean;
  /** The SQL that a connection for requests runs first, with a time limit for its statements, in milliseconds. */
  settings(ms: number): string;
  /**
   * Ends the statement on a connection that was checked out, if the deadline ends before the connection is released.
   * @param leave called when the connection is free, or closed.
   */
  hold(client: PoolClient, deadline: Deadline, leave: Release): void;
  /** Whether the statement sent on the connection will not run, since its deadline ended before it started. */
  isDropped(client: PoolClient): boolean;
  /** The error to report for an error of the server. */
  translate(error: unknown): unknown;
  /** Called when all connections are closed. */
  close(): Promise<void>;
}

/** Runs the first SQL on a new connection, which is destroyed if the server does not respond within `ms` milliseconds. */
export async function setUp(client: ClientBase, sql: string, ms?: number): Promise<void> {
  if (ms === undefined) return void (await client.query(sql));
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
