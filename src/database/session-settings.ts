/**
 * SQL for settings that change the meaning of texts. Every session needs these settings, regardless of the settings of the
 * server, the database, the role, `PGOPTIONS` and the URL. Drivers read dates only in the style ISO. Prisma writes and reads
 * timestamps as if every session were in UTC. In SQL strings a backslash is an ordinary character. (node-postgres itself sets
 * `client_encoding`.) PgBouncer keeps these settings for each client.
 */
export const FORMATS = "set datestyle to 'ISO'; set timezone to 'UTC'; set standard_conforming_strings to on";

/**
 * Begins a transaction. Code that waits for a lock and then reads must see the changes that other transactions committed during
 * the wait.
 */
export const BEGIN = 'begin isolation level read committed';

/**
 * SQL that removes time limits, which would interrupt migrations and waits for locks. PostgreSQL before version 17 has no
 * `transaction_timeout`.
 * @param scope how long the settings last.
 */
export function withoutTimeLimits(scope: 'session' | 'transaction'): string {
  return `select set_config(name, '0', ${scope === 'transaction'}) from pg_settings where name in
    ('statement_timeout', 'lock_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout')`;
}
