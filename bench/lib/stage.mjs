import { applyMigrations, createDatabase, databaseUrl, fill } from './database.mjs';
import { start } from './process.mjs';
import { raiseQuota } from './quota.mjs';

/**
 * A fresh, filled database and the servers on it, ready for requests.
 * The gateway migrates an empty database itself; a run without one applies the same files.
 */
export async function setStage(servers, database, nodeFlags) {
  const url = databaseUrl(database);
  await createDatabase(database);
  const ordered = [...servers].sort((a, b) => Number(b.gateway ?? false) - Number(a.gateway ?? false));
  if (!ordered[0].gateway) await applyMigrations(url);
  const running = [];
  for (const server of ordered) {
    const process = await start(server, url, nodeFlags);
    if (!running.length) await fill(url);
    running.push({ ...server, ...process });
    if (server.gateway) await raiseQuota(running.at(-1));
  }
  return { url, running };
}
