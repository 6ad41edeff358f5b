import type { FastifyInstance } from 'fastify';
import type { Database } from '../database/database';
import { inTime } from '../database/in-time';
import type { ErrorDetail } from '../errors/errors';
import { ProblemError } from '../errors/errors';
import type { Limiter } from '../rate-limit/limiter';
import { readRoute } from './other-methods';
import type { RequestsInProgress } from './requests-in-progress';

export interface HealthOptions {
  readonly database: Database;
  readonly limits: Limiter;
  readonly requests: RequestsInProgress;
}

/**
 * Probes: `/livez` says whether the process responds, `/readyz` whether it can serve: 503 while the database does not
 * respond or cannot be written to, and once the process is shutting down. Limits are only reported: without Redis they continue in memory.
 */
export async function health(app: FastifyInstance, { database, limits, requests }: HealthOptions): Promise<void> {
  app.addHook('onRoute', (route) => {
    if (route.method !== 'OPTIONS')
      route.config = { ...route.config, metering: 'unmetered', isForAnybody: true, operation: 'health' };
  });
  const faultOf = databaseCheck(database);
  const answers = {
    '/livez': async () => ({ process: 'ok' }),
    '/readyz': async () => {
      const faults: ErrorDetail[] = [];
      if (requests.isDraining) faults.push({ path: 'process', message: 'is shutting down' });
      const message = await faultOf();
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

const ANSWERS_WITHIN_MS = 1000;
const BELIEVED_MS = 500;

const NO_ANSWER = 'does not respond';

/**
 * Asks the database at most once at a time and twice a second, however many probes there are.
 * @returns what is wrong with it; undefined if nothing is.
 */
function databaseCheck(database: Database): () => Promise<string | undefined> {
  let running: Promise<string | undefined> | undefined;
  const ask = async () => ((await database.canWrite()) ? undefined : 'cannot be written to; reads go on');
  return () => {
    running ??= ask()
      .catch(() => NO_ANSWER)
      .finally(() => setTimeout(() => (running = undefined), BELIEVED_MS).unref());
    return inTime(running, ANSWERS_WITHIN_MS).catch(() => NO_ANSWER);
  };
}
