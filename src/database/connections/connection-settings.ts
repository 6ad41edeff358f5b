/** Options for a connection to the server at a URL. */
export function connectionTo(connectionString: string) {
  return { connectionString, keepAlive: true, application_name: 'petstore-gateway' };
}

/** A server's display name: `db.example.org:5432/petstore`, without user and password. */
export function placeOf(url: string): string {
  const { host, pathname } = new URL(url);
  return host + pathname;
}

/** Added to a statement's time limit: a server silent for longer than that is considered lost. */
const SILENCE_MS = 500;

/**
 * Lists read few rows of large tables: compiling a statement costs more than running it, rows that are all sorted because
 * they begin in order cost more than those of an index in the whole order, and most pages are in memory.
 */
const PLANNER = 'set jit to off; set enable_incremental_sort to off; set random_page_cost to 1.1';

/**
 * How long a server may stay silent, in milliseconds, and the SQL that is run first on a new connection. Prisma writes
 * and reads timestamps as if every session were in UTC, whatever the server's time zone. A transaction whose client is
 * silent holds its locks for at most `silenceMs`.
 */
export function sessionOf(statementMs: number): { silenceMs: number; settings: string } {
  const silenceMs = statementMs + SILENCE_MS;
  const settings = `set timezone to 'UTC'; ${PLANNER}; set statement_timeout to ${statementMs}; set idle_in_transaction_session_timeout to ${silenceMs}`;
  return { silenceMs, settings };
}
