import cluster from 'node:cluster';
import module from 'node:module';
import { join } from 'node:path';
import { readConfig } from './app/config';
import { environment, isOwnWorker } from './app/environment';
import { fail } from './app/shutdown';
import { explainVirtualMemory } from './database/virtual-memory';
import { complain } from './http/standard-streams';

/** Later starts reuse the code that V8 has compiled, except on Node 20, which has no such cache. */
const compileCache = module as object as { enableCompileCache?(directory: string): unknown };

/** Starts this process as a primary, a worker or a single process. Each kind loads only the modules that it needs. */
async function main(): Promise<void> {
  compileCache.enableCompileCache?.(join(__dirname, '.compiled'));
  // Process managers, such as PM2, fork with `node:cluster` too. Their workers are whole gateways.
  const worker = isOwnWorker() ? cluster.worker : undefined;
  const config = readConfig(environment(worker ? undefined : reportUnknownName));
  if (worker) return (await import('./app/worker.js')).startWorker(config, worker);
  if (config.WEB_CONCURRENCY > 1) return (await import('./app/primary.js')).startPrimary(config);
  return (await import('./app/service.js')).serveAlone(config);
}

/** A misspelt name would silently leave its setting at the default. */
function reportUnknownName(name: string): void {
  complain(`.env sets ${name}, which is not a setting (docs/configuration.md).`);
}

process.on('uncaughtExceptionMonitor', ({ message }) => {
  const explained = explainVirtualMemory(message);
  if (explained) fail(new Error(explained));
});
main().catch(fail);
