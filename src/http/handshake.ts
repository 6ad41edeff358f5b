import type { FastifyReply, FastifyRequest } from 'fastify';
import { ProblemError } from '../graphql/errors';

const KEY = /^[+/0-9A-Za-z]{22}==$/;
const VERSION = '13';

/** Whether a request asks for WebSocket as RFC 6455, section 4.2.1, has it. @throws ProblemError `BAD_REQUEST`. */
export function checkHandshake({ headers }: FastifyRequest, reply: FastifyReply): void {
  const isRight =
    KEY.test(headers['sec-websocket-key'] ?? '') && headers['sec-websocket-version'] === VERSION;
  if (isRight) return;
  reply.header('sec-websocket-version', VERSION);
  throw new ProblemError('BAD_REQUEST', `This is no WebSocket handshake of version ${VERSION}.`);
}

/**
 * WebSockets are not subject to CORS: what other origins may do is for the server to say.
 * @param allowed origins that browsers may connect from; `undefined` is any. @throws ProblemError `FORBIDDEN`.
 */
export function checkOrigin({ headers, host }: FastifyRequest, allowed: readonly string[] | undefined): void {
  const { origin } = headers;
  if (origin === undefined || !allowed || allowed.includes('*') || allowed.includes(origin)) return;
  const isOwn = URL.canParse(origin) && new URL(origin).host === host;
  if (!isOwn) throw new ProblemError('FORBIDDEN', 'Browsers may not connect from this origin.');
}
