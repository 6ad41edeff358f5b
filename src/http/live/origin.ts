import type { FastifyRequest } from 'fastify';
import { ProblemError } from '../../errors/problem';

/**
 * Checks the origin. WebSockets are not subject to CORS, so the server has to.
 * @param allowed origins that browsers may connect from; `undefined` is any. @throws ProblemError `FORBIDDEN`.
 */
export function checkOrigin({ headers, host }: FastifyRequest, allowed: readonly string[] | undefined): void {
  const { origin } = headers;
  if (origin === undefined || !allowed || allowed.includes('*') || allowed.includes(origin)) return;
  const isOwn = URL.canParse(origin) && new URL(origin).host === host;
  if (!isOwn) throw new ProblemError('FORBIDDEN', 'Browsers may not connect from this origin.');
}
