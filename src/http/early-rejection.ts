import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { ProblemError } from '../errors/errors';
import { RETRY_AFTER, type RequestsInProgress } from './requests-in-progress';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Sets headers about the route on all its responses, rejections included. */
    annotate?(request: FastifyRequest, reply: FastifyReply): void;
    /** @returns the error if the route rejects a request before its body is read. */
    reject?(request: FastifyRequest, reply: FastifyReply): Error | undefined;
  }
}

const SEVERAL_HOSTS = 'A request must have one Host header.';
const NO_HOST = 'An HTTP/1.1 request must have a Host header.';

/** Rejects requests before their body is read. */
export function rejectEarly(requests: RequestsInProgress): onRequestHookHandler {
  return (request, reply, done) => done(rejectionOf(request, reply, requests));
}

/**
 * The error of a request without exactly one host (400), during overload (503), with too many requests of its caller in
 * progress (429), with a wrong key (401), or that its route rejects (401, 403, 405, 406). Health checks and metrics are exempt
 * from 503 and 429. Sets the deprecation headers first, so that rejections have them.
 */
function rejectionOf(request: FastifyRequest, reply: FastifyReply, requests: RequestsInProgress): Error | undefined {
  const { raw, slot, caller } = request;
  const { metering, annotate, reject } = request.route;
  const hosts = countHosts(raw);
  if (hosts > 1) return new ProblemError('BAD_REQUEST', SEVERAL_HOSTS);
  if (hosts === 0 && raw.httpVersion === '1.1') return new ProblemError('BAD_REQUEST', NO_HOST);
  annotate?.(request, reply);
  if (metering === 'unmetered') return reject?.(request, reply);
  const rejection = requests.admit(slot, caller.id, request.isShed);
  if (rejection) {
    request.isShed = true;
    if (rejection.status === 429) reply.header('retry-after', RETRY_AFTER);
    return rejection;
  }
  if (request.keyProblem !== undefined && !metering) return request.keyProblem as Error;
  return reject?.(request, reply);
}

/** The number of Host headers (RFC 9112, section 3.2). Node takes the first of several, a proxy in front perhaps the last. */
function countHosts({ rawHeaders }: IncomingMessage): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}
