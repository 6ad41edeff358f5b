import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { ProblemError } from '../../errors/errors';
import { GRAPHQL_PATH } from '../error-handling';
import type { RequestsInProgress } from '../requests-in-progress';

/** Headers about a change of protocol, which are left out when a request is parsed again. */
const UPGRADE_HEADERS = /^(connection|upgrade|http2-settings|sec-websocket-.*)$/i;

export interface Upgrade {
  readonly socket: Socket;
  /** What the client has already sent in the new protocol. */
  readonly head: Buffer;
}

/**
 * Options of `http.createServer`, which Node before 22.21 and 24.9 ignores. HTTP clients such as Java's offer HTTP/2 with their
 * requests (`Upgrade: h2c`), which a server may ignore (RFC 9110, section 7.8). Node 26 has parsed the body of an upgrade, so
 * requests with a body are no upgrades. (Others are, since Node drops pipelined requests after an offer that it ignores.)
 */
export const UPGRADE_OPTIONS = {
  shouldUpgradeCallback: (request: IncomingMessage) => isWebSocket(request) || !hasBody(request),
};

/**
 * WebSocket upgrade requests at `/graphql`. They pass all stages up to the route, so that a rejection has the usual response and
 * headers. The route at the path accepts the upgrade.
 *
 * Node also reports requests that ask for any other protocol, and stops parsing the connection as HTTP. They are parsed
 * again without these headers.
 */
export function pendingUpgrades(server: Server, requests: RequestsInProgress): WeakMap<IncomingMessage, Upgrade> {
  const pending = new WeakMap<IncomingMessage, Upgrade>();
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    // Node no longer listens for errors of the connection, and an unhandled error would end the process.
    socket.off('error', destroy).on('error', destroy);
    whenAnswered(socket, requests, () => {
      if (!isWebSocket(request)) return parseAgain(server, request, socket, head);
      // As `@fastify/websocket` does: Node has no other means to answer an upgrade by way of the hooks.
      const response = new ServerResponse(request);
      response.shouldKeepAlive = false;
      response.assignSocket(socket);
      response.once('finish', () => socket.destroySoon());
      pending.set(request, { socket, head });
      server.emit('request', request, response);
    });
  });
  return pending;
}

function destroy(this: Socket): void {
  this.destroy();
}

/**
 * Continues once no response is pending on the connection: a client may send a request before the previous one is
 * answered (pipelining), and a connection takes one response at a time.
 */
function whenAnswered(socket: Socket, requests: RequestsInProgress, next: () => void): void {
  if (socket.destroyed) return;
  const before = requests.pendingOn(socket);
  if (before) before.raw.once('close', () => setImmediate(whenAnswered, socket, requests, next));
  else next();
}

function isWebSocket({ method, headers, url }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket' && url?.split('?', 1)[0] === GRAPHQL_PATH;
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

function parseAgain(server: Server, request: IncomingMessage, socket: Socket, head: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (!UPGRADE_HEADERS.test(rawHeaders[i] ?? '')) lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`);
  }
  // Otherwise the idle timeout would keep running during the request.
  socket.setTimeout(0);
  // Node decodes header bytes as Latin-1; this restores the original bytes.
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}

/**
 * Checks the origin. WebSockets are not subject to CORS, so the server has to.
 * @param allowed origins that browsers may connect from; `undefined` is any. @throws ProblemError `FORBIDDEN`.
 */
export function checkOrigin({ headers, host }: FastifyRequest, allowed: readonly string[] | undefined): void {
  const { origin } = headers;
  if (origin === undefined || !allowed || allowed.includes('*') || allowed.includes(origin)) return;
  const isSame = URL.canParse(origin) && new URL(origin).host === host;
  if (!isSame) throw new ProblemError('FORBIDDEN', 'Browsers may not connect from this origin.');
}
