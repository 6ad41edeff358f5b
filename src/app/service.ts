import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '../database/open';
import type { Metrics } from '../http/metrics';
import { serveMetrics } from '../http/metrics-server';
import { complain } from '../http/standard-streams';
import type { Limiter } from '../rate-limit/limiter';
import { parseRedisAddress, placeOfRedis } from '../redis/redis-address';
import { announce, type Report } from './banner';
import type { Config } from './config';
import { stopOnSignals } from './shutdown';

/** How long a stop may take after the shutdown delay, in milliseconds: to accept connections, to finish requests, and to close. */
const STOP_MS = 18_000;

/** Serves in this process alone (`WEB_CONCURRENCY` is 1). */
export async function serveAlone(config: Config): Promise<void> {
  const start = new ServiceStart(config);
  const close = async (service: Service) => {
    await service.closePort();
    await service.finish();
  };
  stopOnSignals(() => start.stop(close), config.SHUTDOWN_DELAY_MS + STOP_MS);
  const service = await start.opened;
  if (!service) return;
  const metricsAt = await serveMetrics(service.metrics, config.METRICS_PORT, config.HOST);
  announce(await service.listen(), { metricsAt });
}

/** The gateway in this process, with its open database. */
export interface Service {
  readonly metrics: Metrics;
  listen(): Promise<Report>;
  /** Makes `/readyz` fail and, `delayMs` later, stops accepting connections. */
  closePort(delayMs?: number, turn?: () => Promise<void>): Promise<void>;
  /** Answers the requests on open connections, then closes the server and the database. */
  finish(): Promise<void>;
}

/** How long a start that is stopped may take to clean up, in milliseconds. */
const CLEAN_UP_MS = 2_000;

/** A service that opens, and that can be stopped at any time. */
export class ServiceStart {
  /** Resolves to `undefined` if the service was stopped before it was open. Rejects if it cannot be opened. */
  readonly opened: Promise<Service | undefined>;
  private readonly stopping = new AbortController();
  private service: Service | undefined;

  constructor(config: Config) {
    this.opened = this.open(config);
  }

  /** Closes the service with `close`, or ends the start. */
  async stop(close: (service: Service) => Promise<void>): Promise<void> {
    if (this.service) return close(this.service);
    complain('a signal has stopped the start.');
    this.stopping.abort();
    await Promise.race([this.opened, sleep(CLEAN_UP_MS)]);
  }

  private async open(config: Config): Promise<Service | undefined> {
    const { signal } = this.stopping;
    try {
      const service = await openService(config, signal);
      if (!signal.aborted) this.service = service;
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    return this.service;
  }
}

/** Opens the database and creates the application. @param signal interrupts the migrations. */
async function openService(config: Config, signal: AbortSignal): Promise<Service> {
  const database = await openDatabase({
    url: config.DATABASE_URL,
    directory: config.DATA_DIR,
    poolSize: config.DATABASE_POOL_SIZE,
    requestTimeoutMs: config.REQUEST_TIMEOUT_MS,
    signal,
    report: complain,
    // Loads the other modules while the database opens in its own thread or process.
    onThread: () => void import('./app.js'),
  });
  const { createApp } = await import('./app.js');
  const app = await createApp(config, database);
  const { server, limits, firstAdminKey, metrics, drain, product, firstList, firstWrite } = app;
  return {
    metrics,
    listen: async () => {
      const listening: string | undefined = await server
        .listen({ port: config.PORT, host: config.HOST })
        .catch(cannotListen);
      // Fastify returns no URL if the machine has no network interface.
      const address = listening ?? `http://localhost:${(server.server.address() as AddressInfo).port}`;
      return {
        product,
        address,
        rest: firstList && `${address}${firstList}`,
        data: database.description,
        limits: describeLimits(config, limits.state),
        proxies: describeProxies(config),
        anonymousAccess: config.ANONYMOUS_ACCESS,
        firstAdminKey: await firstAdminKey(),
        firstWrite,
      };
    },
    closePort: (delayMs = config.SHUTDOWN_DELAY_MS, turn) => drain.closePort(delayMs, turn),
    finish: async () => {
      await drain.finish();
      await database.close();
    },
  };
}

function describeLimits({ REDIS_URL }: Config, state: Limiter['state']): string {
  if (REDIS_URL === undefined) return 'in memory';
  const redis = `Redis at ${placeOfRedis(parseRedisAddress(REDIS_URL))}`;
  return state === 'redis' ? redis : `in memory, while ${redis} cannot be reached`;
}

function describeProxies({ TRUST_PROXY: trusted }: Config): string | undefined {
  return typeof trusted === 'number' ? `${trusted} ${trusted === 1 ? 'hop' : 'hops'}` : trusted?.join(', ');
}

function cannotListen(error: NodeJS.ErrnoException & { port?: number }): never {
  const { message, code, port } = error;
  if (code === 'EADDRINUSE')
    throw new Error(
      `port ${port} is taken by another process. Stop that process, or choose another port: PORT=${Number(port) + 1} npm start`,
    );
  throw new Error(`cannot listen on HOST and PORT: ${message}`);
}
