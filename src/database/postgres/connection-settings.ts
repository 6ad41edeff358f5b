import { type Client, type ClientBase, type Connection, Pool, type PoolConfig } from 'pg';
import { withoutTimeLimits } from '../session-settings';

/** The default of PostgreSQL. At other levels a statement outside of a transaction may fail because of a concurrent change. */
const ISOLATION = "set default_transaction_isolation to 'read committed'";

/**
 * Planner settings for lists, which read few rows of large tables. JIT compilation costs more than it saves. The planner may
 * prefer an incremental sort that reads many rows, although an index provides the complete order. Most table pages are in
 * memory, so random access is cheap.
 */
const PLANNER =
  'set jit to off; set enable_incremental_sort to off; set random_page_cost to 1.1; set max_parallel_workers_per_gather to 0';

/**
 * The server closes a connection if it cannot reach the client for about half a minute. Otherwise connections that were lost
 * by network failures would accumulate on the server. Unix sockets ignore these settings.
 */
const KEEP_ALIVE =
  'set tcp_keepalives_idle to 15; set tcp_keepalives_interval to 5; set tcp_keepalives_count to 3; set tcp_user_timeout to 30000';

/**
 * The SQL that a connection for requests runs first. The server ends a statement after `ms` milliseconds. It also ends a
 * transaction whose client is silent for that long, since the transaction holds locks. Behind a pooler most settings are left
 * out, since they would also apply to other clients.
 */
export function settingsFor({ preamble, isPooled }: { preamble: string; isPooled: boolean }, ms: number): string {
  if (isPooled) return preamble;
  return `${preamble}; ${ISOLATION}; ${PLANNER}; ${KEEP_ALIVE}; ${withoutTimeLimits('session')}; set statement_timeout to ${ms}; set idle_in_transaction_session_timeout to ${ms}`;
}

/** Time limit for connecting, and for each response of the server, in milliseconds. */
const PROBE_MS = 1_000;

/**
 * Creates a pool of one connection, which is used only to ask the server whether it accepts writes, and to cancel statements.
 * Therefore the gateway does not report the server as down when all other connections are merely busy. The connection stays
 * open. It is replaced if it breaks, or if the server does not respond.
 */
export function openProbe({ Client, preamble }: { Client: PoolConfig['Client']; preamble: string }): Pool {
  const limits = { max: 1, idleTimeoutMillis: 0, connectionTimeoutMillis: PROBE_MS, query_timeout: PROBE_MS };
  const onConnect = (client: ClientBase) => setUp(client, preamble, PROBE_MS);
  // The pool replaces a connection that breaks; without a listener the event would crash the process.
  return new Pool({ Client, onConnect, ...limits }).on('error', () => undefined);
}

/**
 * Runs the first SQL on a new connection. Destroys the connection if the server does not respond within `ms` milliseconds.
 */
export async function setUp(client: ClientBase, sql: string, ms: number): Promise<void> {
  const silent = setTimeout(() => connectionOf(client).stream.destroy(), ms);
  try {
    await client.query(sql);
  } finally {
    clearTimeout(silent);
  }
}

/** Calls the listener with the SQLSTATE of each error that the server reports on a connection. */
export function onServerError(client: ClientBase, listener: (code: string) => void): void {
  connectionOf(client).on('errorMessage', ({ code = '' }: { code?: string }) => listener(code));
}

/** The connection of a client. `ClientBase` does not declare it, but all clients of the gateway are instances of `Client`. */
export function connectionOf(client: ClientBase): Connection {
  return (client as Client).connection;
}
