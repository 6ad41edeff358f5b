import type { FastifyInstance } from 'fastify';
import type { Database } from '../database/database';
import { failureOf } from '../database/failures';
import { withTimeout } from '../database/timeout';
import type { ErrorDetail } from '../errors/errors';
import { ProblemError } from '../errors/errors';
import type { Limiter } from '../rate-limit/limiter';
import { readRoute } from './allowed-methods';
import type { RequestsInProgress } from './requests-in-progress';

interface HealthOptions {
  readonly database: Database;
  readonly limits: Limiter;
  readonly requests: RequestsInProgress;
}

/**
 * Health checks. `/livez` succeeds while the process runs. `/readyz` responds with 503 during shutdown, and while the
 * database does not respond or is not writable. `/readyz` succeeds even if Redis is unreachable, since limits are then
 * counted in memory.
 */
export async function health(app: FastifyInstance, { database, limits, requests }: HealthOptions): Promise<void> {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, metering: 'unmetered', isPublic: true, logName: 'health' };
  });
  const checkDatabase = databaseCheck(database);
  const answers = {
    '/livez': async () => ({ process: 'ok' }),
    '/readyz': async () => {
      const faults: ErrorDetail[] = [];
      if (requests.isDraining) faults.push({ path: 'process', message: 'is shutting down' });
      const message = await checkDatabase();
      if (message) faults.push({ path: 'database', message });
      if (!faults.length) return { process: 'ok', database: 'ok', limits: limits.state };
      const summary = faults.map((fault) => `the ${fault.path} ${fault.message}`).join('; ');
      throw new ProblemError('SERVICE_UNAVAILABLE', `Not ready: ${summary}.`, faults);
    },
  };
  for (const [url, answer] of Object.entries(answers)) {
    readRoute(app, url, {
      handler: async (_request, reply) => {
        reply.header('cache-control', 'no-store');
        return { status: 'ok', checks: await answer() };
      },
    });
  }
}

const TIMEOUT_MS = 1000;
const CACHED_MS = 500;

const NO_ANSWER = 'does not respond';

/**
 * Makes a function that checks the database. Concurrent calls share one check, whose result is cached for half a second.
 * @returns the function. Its promise resolves to a description of the database's fault, or to `undefined` without a fault.
 */
function databaseCheck(database: Database): () => Promise<string | undefined> {
  let running: Promise<string | undefined> | undefined;
  const ask = async () => ((await database.canWrite()) ? undefined : 'is read-only; reads still work');
  return () => {
    running ??= ask()
      .catch((error) => (failureOf(error) === 'rejected' ? `rejects statements (SQLSTATE ${error.code})` : NO_ANSWER))
      .finally(() => setTimeout(() => (running = undefined), CACHED_MS).unref());
    return withTimeout(running, TIMEOUT_MS).catch(() => NO_ANSWER);
  };
}
