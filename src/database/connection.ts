/** How a connection to the server of a URL is opened. */
export function connectionTo(connectionString: string) {
  return { connectionString, keepAlive: true, application_name: 'petstore-gateway' };
}

/** A server, for people: `db.example.org:5432/petstore`, without user and password. */
export function placeOf(url: string): string {
  const { host, pathname } = new URL(url);
  return host + pathname;
}

/** Above a statement's own limit: who hears nothing for so much longer has lost the server. */
const SILENCE_MS = 500;

/**
 * How long a server may keep silent, in milliseconds, and what a new connection is told first. Prisma writes and reads
 * timestamps as if every session were in UTC, whatever the server's own zone is. A transaction whose client is silent holds
 * its locks no longer than a statement may take.
 */
export function sessionOf(statementMs: number): { silenceMs: number; settings: string } {
  const silenceMs = statementMs + SILENCE_MS;
  const settings = `set timezone to 'UTC'; set statement_timeout to ${statementMs}; set idle_in_transaction_session_timeout to ${silenceMs}`;
  return { silenceMs, settings };
}
