import cluster from 'node:cluster';
import { readConfig, SETTING_NAMES } from './app/config';
import { environment, namesInFile } from './app/environment';
import { fail } from './app/shutdown';

/** Starts this process as a primary, a worker or a single process. Each kind loads only the modules that it needs. */
async function main(): Promise<void> {
  if (cluster.isPrimary) reportUnknownNames();
  const config = readConfig(environment());
  if (cluster.isPrimary && config.WEB_CONCURRENCY > 1) return (await import('./app/primary.js')).startPrimary(config);
  if (cluster.worker) return (await import('./app/worker.js')).startWorker(config, cluster.worker);
  return (await import('./app/service.js')).serveAlone(config);
}

/** Settings that only the command-line tools read. */
const OF_COMMANDS = ['PETSTORE_URL', 'PETSTORE_API_KEY'];

/** Reports names in `.env` that are not settings. A misspelt name would silently leave its setting at the default. */
function reportUnknownNames(): void {
  const known = [...SETTING_NAMES, ...OF_COMMANDS];
  for (const name of namesInFile().filter((each) => !known.includes(each)))
    process.stderr.write(`petstore-gateway: .env sets ${name}, which is not a setting (docs/configuration.md).\n`);
}

main().catch(fail);
