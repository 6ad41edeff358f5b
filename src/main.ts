import cluster from 'node:cluster';
import { setFlagsFromString } from 'node:v8';
import { readConfig } from './config';
import { environment } from './environment';
import { fail } from './processes/ending';

// V8 would place what it has seen outlive a collection among what is old, where it stays for minutes. Here nothing that a
// request makes outlives it: what was seen belonged to requests that were under way.
setFlagsFromString('--no-allocation-site-pretenuring');
// What is old is collected once it has grown by half, not to four times its size: under full load that is once in ten
// seconds or so, and takes some ten milliseconds.
setFlagsFromString('--heap-growing-percent=50');
// What is young gets half the room that it would: 16 MiB less, at a cost within what measuring shows. V8 takes that only
// from the command that starts it, `--max-semi-space-size=8`; workers inherit it.

/** What a process is, is decided here; each kind loads only what it needs. */
async function main(): Promise<void> {
  const config = readConfig(environment());
  if (cluster.isPrimary && config.WEB_CONCURRENCY > 1)
    return (await import('./processes/primary.js')).lead(config);
  // Before what it hooks into is loaded.
  if (config.OTEL_EXPORTER_OTLP_ENDPOINT)
    (await import('./tracing/tracing.js')).startTracing(config.OTEL_SERVICE_NAME);
  if (cluster.isWorker) return (await import('./processes/worker.js')).work(config);
  return (await import('./processes/alone.js')).serveAlone(config);
}

main().catch(fail);
