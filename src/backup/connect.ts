import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Client } from 'pg';
import { connectionTo, openDirectory } from '../database/embedded/cluster';
import { CLUSTER } from '../database/embedded/data-directory';
import { reasonOf } from '../database/failures';
import { type MigrationConnection, migrationsOn } from '../database/migrations';
import { Server } from '../postgres/database-server';
import { copyLive } from './live-copy';

const CONNECT_MS = 10_000;

/** A connection to a whole database, of which nothing is changed by opening it. */
export interface Connection extends MigrationConnection {
  readonly description: string;
  close(): Promise<void>;
}

/** @throws Error with a one-line message that says where, without the password in `url`. */
export async function connectTo(url: string): Promise<Connection> {
  const server = new Server(url);
  const description = `PostgreSQL at ${server.place}`;
  let client: Client;
  try {
    if (server.hosts.length > 1) await server.locate();
    client = await server.connect({ connectionTimeoutMillis: CONNECT_MS });
  } catch (error) {
    throw new Error(`${description} cannot be reached: ${reasonOf(error)}`, { cause: error });
  }
  return { ...migrationsOn(client), description, close: () => client.end() };
}

/** Opens the embedded database for this process alone, and creates it if there is none. */
export async function connectToDirectory(directory: string): Promise<Connection> {
  const { engine, close } = await openDirectory(directory);
  return { ...connectionTo(engine), description: `embedded PostgreSQL in ${directory}`, close };
}

/**
 * Opens the embedded database for reading: a copy of it if a process is serving it.
 * @param beside a file; the copy is made in a directory beside it, and removed at the end.
 */
export async function readDirectory(directory: string, beside: string): Promise<Connection> {
  if (!existsSync(join(directory, CLUSTER))) throw new Error(`DATA_DIR ${directory} has no database`);
  const copy = mkdtempSync(join(dirname(beside), '.petstore-copy-'));
  const remove = () => rmSync(copy, { recursive: true, force: true });
  try {
    if (!(await copyLive(directory, join(copy, CLUSTER)))) {
      remove();
      return await connectToDirectory(directory);
    }
    const opened = await connectToDirectory(copy);
    const close = () => opened.close().finally(remove);
    return { ...opened, description: `embedded PostgreSQL in ${directory}`, close };
  } catch (error) {
    remove();
    throw error;
  }
}
