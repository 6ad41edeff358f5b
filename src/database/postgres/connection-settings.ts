import { type ClientBase, Pool } from 'pg';
import { type Server, setUp } from './server';

/** Prisma writes and reads timestamps as if every session were in UTC. PgBouncer keeps this one setting for each client. */
const TIME_ZONE = "set timezone to 'UTC'";

/**
 * Lists read few rows of large tables: compiling a statement costs more than running it, rows that are all sorted because
 * they begin in order cost more than those of an index in the whole order, and most pages are in memory.
 */
const PLANNER =
  'set jit to off; set enable_incremental_sort to off; set random_page_cost to 1.1; set max_parallel_workers_per_gather to 0';

/**
 * The server ends a connection whose client it cannot reach for about half a minute, so that those that a broken network
 * has left behind do not add up there. It ignores this on Unix sockets.
 */
const KEEP_ALIVE =
  'set tcp_keepalives_idle to 15; set tcp_keepalives_interval to 5; set tcp_keepalives_count to 3; set tcp_user_timeout to 30000';

/**
 * The SQL that is run first on a new connection. After `ms` milliseconds the server ends a statement, and a transaction
 * whose client is silent, which would hold its locks. Behind a pooler other clients would get these settings.
 */
export function settingsFor({ requirement, isPooled }: Pick<Server, 'requirement' | 'isPooled'>, ms: number): string {
  if (isPooled) return `${requirement}; ${TIME_ZONE}`;
  return `${requirement}; ${TIME_ZONE}; ${PLANNER}; ${KEEP_ALIVE}; set statement_timeout to ${ms}; set idle_in_transaction_session_timeout to ${ms}`;
}

/** How long connecting may take, and the server's response, in milliseconds. */
const PROBE_MS = 1_000;

/**
 * A connection of its own by which the server is asked whether it takes writes, so that a busy server is not mistaken for
 * one that is down. It is kept, and replaced if it breaks or a remote server does not answer.
 */
export function openProbe({ Client, requirement, isRemote }: Server): Pool {
  const ms = isRemote ? PROBE_MS : undefined;
  const limits = { max: 1, idleTimeoutMillis: 0, connectionTimeoutMillis: ms, query_timeout: ms };
  const onConnect = (client: ClientBase) => setUp(client, requirement, ms);
  // The pool replaces a connection that breaks; without a listener the event would crash the process.
  return new Pool({ Client, onConnect, ...limits }).on('error', () => undefined);
}
