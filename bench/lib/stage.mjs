import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applyMigrations, createDatabase, databaseUrl, dropDatabase, fill, fillDirectory } from './database.mjs';
import { start, stopAll } from './process.mjs';
import { forgetUse, raiseQuota } from './quota.mjs';

/**
 * Runs `act` on a fresh, filled database with the servers ready for requests, and always cleans up.
 * @param act receives the database's `url` and the `running` servers, each with its `port`, `url` and `pid`
 */
export async function onStage(servers, database, act, nodeFlags) {
  process.once('SIGINT', async () => {
    await stopAll();
    process.exit(130);
  });
  try {
    await act(await setStage(servers, database, nodeFlags));
  } finally {
    await stopAll();
    await dropDatabase(database);
    for (const directory of directories) rmSync(directory, { recursive: true, force: true });
  }
}

/** The data directories of embedded databases, which are deleted at the end. */
const directories = [];

/**
 * Creates and fills the database, and starts the servers. The gateway migrates an empty database itself. If no gateway runs,
 * this function applies the same migrations.
 */
async function setStage(servers, database, nodeFlags) {
  const url = databaseUrl(database);
  await createDatabase(database);
  await forgetUse();
  const migrates = ({ gateway = false, embedded = false }) => Number(gateway && !embedded);
  const ordered = [...servers].sort((a, b) => migrates(b) - migrates(a));
  if (!migrates(ordered[0])) await applyMigrations(url);
  const running = [];
  for (const server of ordered) {
    const process = await startOn(url, server, nodeFlags);
    if (!running.length) await fill(url);
    running.push({ ...server, ...process });
  }
  return { url, running };
}

/**
 * Starts a server on the database at `url`, or on a filled embedded database of its own. Raises the quota of the benchmark's key
 * if the server is a gateway.
 */
export async function startOn(url, server, nodeFlags) {
  const process = await (server.embedded ? startEmbedded(server, nodeFlags) : start(server, url, nodeFlags));
  if (server.gateway) await raiseQuota({ name: server.name, url: process.url });
  return process;
}

async function startEmbedded(server, nodeFlags) {
  const directory = mkdtempSync(join(tmpdir(), 'petstore-bench-'));
  directories.push(directory);
  await fillDirectory(directory);
  return start({ ...server, env: { ...server.env, DATA_DIR: directory } }, undefined, nodeFlags);
}
