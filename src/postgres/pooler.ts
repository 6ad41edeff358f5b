import { randomUUID } from 'node:crypto';
import type { ClientBase } from 'pg';
import { keyOf } from './cancel-request';
import type { Server } from './database-server';

/** Prisma writes and reads timestamps as if every session were in UTC, whatever the server's time zone. */
export const TIME_ZONE = "set timezone to 'UTC'";

/** A pooler that gives a connection to the server for a transaction, and not for a session. */
export interface TransactionPooler {
  /** Whether it prepares statements on whichever connection they come to. */
  readonly keepsStatements: boolean;
}

/** How long each question may take, in milliseconds: with a single connection a pooler lets one of two clients wait. */
const PATIENT = { connectionTimeoutMillis: 3_000, query_timeout: 3_000 };
/** Times that it is looked whether a connection stays the same: others may use the same pooler now. */
const ROUNDS = 10;

const LOOK = "select pg_backend_pid() as pid, current_setting('timezone') as zone";
const ZONES_OF_UTC = ['UTC', 'Etc/UTC'];

interface Seen {
  readonly pid: number;
  readonly zone: string;
}

/**
 * Finds out what is between the gateway and the server.
 * @returns undefined if connections lead to the server itself, or a session has the same connection until it ends.
 * @throws Error if the pooler does not keep a client's time zone, or is not to be connected to.
 */
export async function findPooler(server: Server): Promise<TransactionPooler | undefined> {
  const one = await connect(server);
  try {
    // A pooler has made up the key by which statements are cancelled; a server's has the number of its process.
    if (keyOf(one).processID === (await look(one)).pid) return undefined;
    const other = await connect(server);
    try {
      return await poolerOf(one, other);
    } finally {
      await other.end();
    }
  } finally {
    await one.end();
  }
}

function connect({ Client }: Server) {
  return new Client(PATIENT).connect();
}

async function poolerOf(one: ClientBase, other: ClientBase): Promise<TransactionPooler | undefined> {
  await one.query(TIME_ZONE);
  const zones = new Set<string>();
  if (!(await sharesConnections(one, other, zones))) return undefined;
  zones.add((await look(one)).zone);
  if ([...zones].some((zone) => !ZONES_OF_UTC.includes(zone))) {
    throw new Error("its pooler forgets a session's time zone: run alter role … set timezone to 'UTC'");
  }
  return { keepsStatements: await keepsStatements(one, other) };
}

/** Whether a session's statements run on different connections, or two sessions' on the same one. */
async function sharesConnections(one: ClientBase, other: ClientBase, zones: Set<string>): Promise<boolean> {
  const first = await look(one);
  let isShared = false;
  for (let round = 0; round < ROUNDS; round++) {
    await other.query('begin');
    try {
      // While this transaction lasts, the pooler gives its connection to nobody else.
      const held = await look(other);
      const again = await look(one);
      zones.add(again.zone);
      isShared ||= held.pid === first.pid || again.pid !== first.pid;
    } catch {
      // It waits for the connection that the other has: there is one for both.
      return true;
    } finally {
      await other.query('rollback');
    }
  }
  return isShared;
}

/** Whether a statement that was prepared on one connection to the server is there on another. */
async function keepsStatements(one: ClientBase, other: ClientBase): Promise<boolean> {
  // A name of its own: another instance's check may have left statements on the connections of a pooler that keeps none.
  const prepared = { name: `pooler_check_${randomUUID()}`, text: LOOK };
  try {
    const { rows } = await one.query<Seen>(prepared);
    const pids = new Set([rows[0]?.pid]);
    for (let round = 0; round < ROUNDS; round++) {
      await other.query('begin');
      try {
        await look(other);
        const { rows } = await one.query<Seen>(prepared);
        pids.add(rows[0]?.pid);
      } finally {
        await other.query('rollback');
      }
    }
    return pids.size > 1;
  } catch {
    return false;
  }
}

async function look(client: ClientBase): Promise<Seen> {
  const { rows } = await client.query<Seen>(LOOK);
  return rows[0] as Seen;
}
