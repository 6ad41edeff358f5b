import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ErrorCode } from '../errors/codes';
import { errorBody, helpLink, ProblemError } from '../errors/errors';
import { subjectOfAddress } from '../rate-limit/client-address';
import { limitError } from '../rate-limit/limit-status';
import type { Limiter } from '../rate-limit/limiter';
import { Meter } from '../rate-limit/meter';
import { PLANS } from '../rate-limit/plans';
import { rateLimitHeaders } from '../rate-limit/rate-limit-headers';
import { CONSTANT_HEADERS } from './common-headers';
import type { RequestsInProgress } from './requests-in-progress';

const CODES: Readonly<Record<string, [ErrorCode, string]>> = {
  HPE_HEADER_OVERFLOW: ['HEADERS_TOO_LARGE', 'The headers are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['REQUEST_TIMEOUT', 'The request took too long to arrive.'],
};

/**
 * Answers requests that Node's HTTP parser rejects. They never reach Fastify, so the usual error and headers are written to
 * the socket here. The caller is charged, or the client's address if the headers could not be parsed. If the request has
 * already been answered and the error is in the rest of its body, the socket is closed without a second response.
 */
export function answerParserErrors(limits: Limiter, requests: RequestsInProgress, now: () => number) {
  return async (error: NodeJS.ErrnoException, socket: Socket): Promise<void> => {
    const request = requests.arrivingOn(socket);
    const isAnswered = request && !request.slot.reply;
    if (error.code === 'ECONNRESET' || !socket.writable || isAnswered) {
      socket.destroy();
      return;
    }
    const address = { id: subjectOfAddress(socket.remoteAddress), quota: PLANS.FREE };
    const limitStatus = await (request?.meter ?? new Meter(limits, address)).charge(1);
    const [code, message] = CODES[error.code ?? ''] ?? ['BAD_REQUEST', 'The request is not valid HTTP.'];
    write(socket, limitError(limitStatus) ?? new ProblemError(code, message), rateLimitHeaders(limitStatus, now()));
  };
}

function write(socket: Socket, problem: ProblemError, headers: Record<string, string>): void {
  const requestId = randomUUID();
  const body = JSON.stringify(errorBody(problem, requestId));
  const fields = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'X-Request-Id': requestId,
    Link: helpLink(problem.code),
    ...CONSTANT_HEADERS,
    ...headers,
    Connection: 'close',
  };
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`, ...head, '', body].join('\r\n'));
}
