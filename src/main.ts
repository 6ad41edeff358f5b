import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createApp } from './app';
import { type Config, readConfig } from './config';
import { openDatabase } from './database/open';
import { environment } from './environment';
import type { Metrics } from './http/metrics';
import { metricsServer } from './http/metrics-route';

async function main(): Promise<void> {
  const config = readConfig(environment());
  const database = await openDatabase({
    url: config.DATABASE_URL,
    directory: config.DATA_DIR,
    poolSize: config.DATABASE_POOL_SIZE,
    queue: config.DATABASE_QUEUE,
    requestTimeoutMs: config.REQUEST_TIMEOUT_MS,
  });
  const { server, anonymousAccess, newAdminKey, metrics, drain } = await createApp(config, database);
  stopOnSignals(async () => {
    await drain();
    await database.close();
  });
  const metricsAt = await serveMetrics(config, metrics);
  const address = await server.listen({ port: config.PORT, host: config.HOST });
  process.stdout.write(
    banner([
      ['GraphQL', `${address}/graphql   (a browser gets Sandbox)`],
      ['REST', `${address}/pets`],
      ['Docs', `${address}/docs`],
      ...(metricsAt ? [['Metrics', metricsAt] as const] : []),
      ['Data', database.description],
      ['Access', `without a key: ${ACCESS[anonymousAccess]}`],
      ...(newAdminKey ? [['Admin key', `${newAdminKey}   (shown this once: keep it safe)`] as const] : []),
    ]),
  );
}

/** On the first SIGTERM or SIGINT `finish` ends the process in order, on the second it ends at once. */
function stopOnSignals(finish: () => Promise<void>): void {
  let stopping = false;
  const stop = () => {
    if (stopping) process.exit(1);
    stopping = true;
    finish().then(() => process.exit(0), fail);
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);
}

/** Serves metrics on a port of their own where one is set. @returns its URL. */
async function serveMetrics({ METRICS_PORT, HOST }: Config, metrics: Metrics): Promise<string | undefined> {
  if (METRICS_PORT === undefined) return undefined;
  const server = metricsServer(metrics).listen(METRICS_PORT, HOST);
  await once(server, 'listening');
  return `http://${HOST}:${(server.address() as AddressInfo).port}/metrics`;
}

const ACCESS = { none: 'nothing', read: 'read', write: 'read and write' };

function banner(rows: (readonly [string, string])[]): string {
  const lines = rows.map(([name, value]) => `  ${name.padEnd(10)} ${value}`);
  return ['', '  Petstore Gateway 1.0.0', ...lines, '', ''].join('\n');
}

function fail(error: unknown): void {
  process.stderr.write(`petstore-gateway: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

main().catch(fail);
