import type { FastifyReply, FastifyRequest } from 'fastify';
import { ProblemError } from '../../errors/problem';

const KEY = /^[+/0-9A-Za-z]{22}==$/;
const VERSION = '13';
/** RFC 9110, section 5.6.2, with optional white space around it in a list. */
const TOKEN = /^[ \t]*([!#$%&'*+\-.^_`|~0-9A-Za-z]+)[ \t]*$/;

/**
 * Checks a WebSocket handshake (RFC 6455, section 4.2.1). One that passed here but failed in ws would be answered by ws
 * itself, bypassing all hooks.
 * @throws ProblemError `BAD_REQUEST`.
 */
export function checkHandshake({ headers }: FastifyRequest, reply: FastifyReply): void {
  const isRight =
    KEY.test(headers['sec-websocket-key'] ?? '') &&
    headers['sec-websocket-version'] === VERSION &&
    areProtocols(headers['sec-websocket-protocol']);
  if (isRight) return;
  reply.header('sec-websocket-version', VERSION);
  throw new ProblemError('BAD_REQUEST', `This is not a valid WebSocket handshake of version ${VERSION}.`);
}

/** Whether the header is a list of distinct tokens. */
function areProtocols(header: string | undefined): boolean {
  if (header === undefined) return true;
  const names = header.split(',').map((each) => TOKEN.exec(each)?.[1]);
  return !names.includes(undefined) && new Set(names).size === names.length;
}

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
