import { applyMigrations, createDatabase, databaseUrl, dropDatabase, fill } from './database.mjs';
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
  }
}

/** The gateway migrates an empty database itself; for a run without it the same files are applied here. */
async function setStage(servers, database, nodeFlags) {
  const url = databaseUrl(database);
  await createDatabase(database);
  await forgetUse();
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
