import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import type { ErrorCode } from '../errors/codes';
import { errorBody, helpLink, ProblemError } from '../errors/errors';
import { idOfAddress } from '../rate-limit/client-address';
import { limitError } from '../rate-limit/limit-status';
import type { Limiter } from '../rate-limit/limiter';
import { Meter } from '../rate-limit/meter';
import { PLANS } from '../rate-limit/plans';
import { rateLimitHeaders } from '../rate-limit/rate-limit-headers';
import { JSON_UTF8 } from '../rest/media-types';
import { type AccessLog, isBanned } from './access-log';
import { CONSTANT_HEADERS } from './common-headers';
import type { CorsHeaders } from './cors';
import { meterOfNobody } from './identification';
import { MAX_DISCARDED, type RequestsInProgress } from './requests-in-progress';

/** An error of Node's HTTP parser. */
interface ParserError extends Error {
  readonly code?: string;
  /** What is wrong, such as `Invalid header value char`. It contains no part of the request. */
  readonly reason?: string;
  /** The bytes that the parser could not read. */
  readonly rawPacket?: unknown;
}

interface ParserErrorOptions {
  readonly limits: Limiter;
  readonly requests: RequestsInProgress;
  readonly accessLog: AccessLog;
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
  readonly corsHeaders: CorsHeaders;
  /** Whether a connection comes from a trusted proxy, so that its address says nothing about the client. */
  isProxy(address: string | undefined): boolean;
}

const CODES: Readonly<Record<string, [ErrorCode, string]>> = {
  HPE_HEADER_OVERFLOW: ['HEADERS_TOO_LARGE', 'The headers are too large.'],
  CONNECT: ['BAD_REQUEST', 'CONNECT is not supported: this server is not a proxy.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['REQUEST_TIMEOUT', 'The request took too long to arrive.'],
};

/** Stands for a CONNECT request. */
export const CONNECT: ParserError = Object.assign(new Error('CONNECT'), { code: 'CONNECT' });

/**
 * The connection of a rejected request is closed after this time without new bytes, in milliseconds. Until then, the rest of
 * the request is read and discarded. If the server closed the connection while the client is still sending, the kernel would
 * reset the connection, and the client could lose the response.
 */
const LINGER_MS = 2_000;
/** Maximum number of these intervals for one request. */
const MAX_INTERVALS = 5;
/** How long to wait for the first bytes of a connection that is to be closed, in milliseconds. */
const READ_MS = 10;

/**
 * Answers requests that Node's HTTP parser rejects. They never reach Fastify, so the usual error and headers are written to the
 * socket here. The caller is charged, or the client's address if the headers could not be parsed. If the request has already been
 * answered and the error is in the rest of its body, the socket is closed without a second response. A connection on which
 * nothing was ever sent is closed in the same way, since browsers open such connections in advance.
 */
export function answerParserErrors(options: ParserErrorOptions) {
  const { limits, requests, now } = options;
  /**
   * Sockets to which this function has sent an error response, with a limit for `socket.bytesRead`. Below the limit, further
   * parser errors of the socket are ignored; above it, the next parser error destroys the socket.
   */
  const answered = new WeakMap<Socket, number>();
  const meterOf = ({ remoteAddress }: Socket) =>
    options.isProxy(remoteAddress)
      ? meterOfNobody(limits)
      : new Meter(limits, { id: idOfAddress(remoteAddress), quota: PLANS.FREE });

  return async (error: ParserError, socket: Socket): Promise<void> => {
    // The parser reports an error for each further packet of a rejected request.
    if (socket.bytesRead < (answered.get(socket) ?? 0)) return;
    // On a busy event loop, bytes may have arrived that have not been read yet.
    if (socket.bytesRead === 0) await sleep(READ_MS);
    const request = requests.arrivingOn(socket);
    const isAnswered = request && !request.slot.reply;
    if (error.code === 'ECONNRESET' || !socket.writable || isAnswered || socket.bytesRead === 0) {
      socket.destroy();
      return;
    }
    answered.set(socket, socket.bytesRead + MAX_DISCARDED);
    const meter = request?.meter ?? meterOf(socket);
    const limitStatus = await meter.charge('counted');
    const problem = limitError(limitStatus) ?? problemOf(error);
    const requestId = request?.id ?? randomUUID();
    write(socket, problem, requestId, {
      date: new Date().toUTCString(),
      ...options.corsHeaders(originOf(error, request)),
      ...rateLimitHeaders(limitStatus, now()),
    });
    closeLater(socket);
    const { code, status } = problem;
    const caller = meter.subject.id;
    const entry = { requestId, method: request?.method, caller, operation: 'other', operationName: undefined };
    options.accessLog.record({ ...entry, status, code, ms: 0 }, isBanned(status, meter), {
      ...{ code, status, interface: 'other' },
    });
  };
}

/** Closes the connection as soon as the client has stopped sending. */
function closeLater(socket: Socket, intervals = MAX_INTERVALS): void {
  const { bytesRead } = socket;
  const check = () => {
    if (intervals > 1 && socket.bytesRead > bytesRead) closeLater(socket, intervals - 1);
    else socket.destroy();
  };
  // Checks after the poll phase. On a busy event loop, bytes may have arrived that have not been read yet.
  setTimeout(() => setImmediate(check), LINGER_MS).unref();
}

function problemOf({ code = '', reason }: ParserError): ProblemError {
  const known = CODES[code];
  if (known) return new ProblemError(...known);
  return new ProblemError('BAD_REQUEST', `The request is not valid HTTP${reason ? `: ${reason}` : ''}.`);
}

/** The `Origin` of a request; an empty text if it is not known. */
function originOf({ rawPacket }: ParserError, request: FastifyRequest | undefined): string {
  if (request) return request.headers.origin ?? '';
  return /\r\norigin:[ \t]*([^\r\n]+)/i.exec(Buffer.isBuffer(rawPacket) ? rawPacket.toString('latin1') : '')?.[1] ?? '';
}

function write(socket: Socket, problem: ProblemError, requestId: string, headers: Record<string, string>): void {
  const body = JSON.stringify(errorBody(problem, requestId));
  const fields = {
    'Content-Type': JSON_UTF8,
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
