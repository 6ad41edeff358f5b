import { Pool } from 'pg';

/** Options for a connection to the server at a URL. */
export function connectionTo(connectionString: string) {
  return { connectionString, keepAlive: true, application_name: 'petstore-gateway' };
}

/** A server's display name: `db.example.org:5432/petstore`, without user and password. */
export function placeOf(url: string): string {
  const { host, pathname } = new URL(url);
  return host + pathname;
}

/**
 * Lists read few rows of large tables: compiling a statement costs more than running it, rows that are all sorted because
 * they begin in order cost more than those of an index in the whole order, and most pages are in memory.
 */
const PLANNER =
  'set jit to off; set enable_incremental_sort to off; set random_page_cost to 1.1; set max_parallel_workers_per_gather to 0';

/**
 * The SQL that is run first on a new connection. Prisma writes and reads timestamps as if every session were in UTC,
 * whatever the server's time zone. After `ms` milliseconds the server ends a statement, and a transaction whose client is
 * silent, which would hold its locks.
 */
export function settingsFor(ms: number): string {
  return `set timezone to 'UTC'; ${PLANNER}; set statement_timeout to ${ms}; set idle_in_transaction_session_timeout to ${ms}`;
}

/**
 * A connection of its own for short questions, which are not to wait for requests: a busy server is not mistaken there for
 * one that is down or lags. It is kept, and replaced if it breaks or does not answer.
 * @param ms how long connecting, and each answer, may take.
 */
export function ownConnection(url: string, ms: number): Pool {
  const limits = { max: 1, idleTimeoutMillis: 0, connectionTimeoutMillis: ms, query_timeout: ms };
  // The pool replaces a connection that breaks; without a listener the event would crash the process.
  return new Pool({ ...connectionTo(url), ...limits }).on('error', () => undefined);
}
