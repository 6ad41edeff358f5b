import { OperationRejection, type Problem } from '../errors/errors';
import type { LimitStatus } from './limit-status';

/** The error for a request over the limit or from a banned caller; `undefined` otherwise. */
export function limitError(limitStatus: LimitStatus): OperationRejection | undefined {
  const problem = limitProblem(limitStatus);
  return problem && new OperationRejection(problem);
}

/** Like {@link limitError}, but without an `Error`, whose stack trace is too expensive under a flood of requests. */
export function limitProblem(limitStatus: LimitStatus): Problem | undefined {
  const { verdict, inForce, retryAfterMs = 0, bannedUntil = 0 } = limitStatus;
  if (verdict !== 'banned' && verdict !== 'limited') return undefined;
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  const retry = `Try again in ${seconds} second${seconds === 1 ? '' : 's'}.`;
  if (verdict === 'limited')
    return { code: 'RATE_LIMITED', status: 429, message: `${EXCEEDED[inForce.name](inForce.limit)} ${retry}` };
  const message = `Banned until ${new Date(bannedUntil).toISOString()} after too many rejected requests. ${retry}`;
  return { code: 'KEY_BANNED', status: 429, message };
}

const EXCEEDED = {
  minute: (limit: number) => `This plan allows ${limit} requests per minute.`,
  day: (limit: number) => `This plan allows ${limit} requests per day.`,
  uncounted: (limit: number) => `Requests that use no quota are limited to ${limit} per minute.`,
};
