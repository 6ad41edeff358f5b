import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { ProblemError } from '../../errors/errors';
import type { RequestsInProgress } from '../requests-in-progress';
import { GRAPHQL_PATH } from '../urls';

/** Headers that ask the server to switch protocols. They are removed before a request is parsed again. */
const UPGRADE_HEADERS = /^(connection|upgrade|http2-settings|sec-websocket-.*)$/i;

interface Upgrade {
  readonly socket: Socket;
  /** The bytes that arrived after the request's headers. */
  readonly head: Buffer;
}

/**
 * Options of `http.createServer` that decide which requests count as upgrades. Older versions of Node (before 22.21 or, in
 * version 24, before 24.9) ignore these options.
 *
 * Some HTTP clients, such as Java's, offer HTTP/2 with ordinary requests (`Upgrade: h2c`). A server may ignore the offer
 * (RFC 9110, section 7.8). If the request has a body, `shouldUpgradeCallback` makes Node ignore the offer. Without this
 * callback, Node 26 would consume the body before it reports the upgrade. If the request has no body, Node reports an
 * upgrade, and `parseAgain` ignores the offer. If Node itself ignored the offer, it would drop the requests pipelined after
 * this request.
 */
export const UPGRADE_OPTIONS = {
  shouldUpgradeCallback: (request: IncomingMessage) => isWebSocket(request) || !hasBody(request),
};

/**
 * Collects the WebSocket upgrade requests at `/graphql`. They pass all stages up to the route, so that a rejection has the
 * usual body and headers. The route then accepts the upgrade.
 *
 * Node also reports requests for other protocols as upgrades, and stops parsing HTTP on their connections. These requests
 * are parsed again without their upgrade headers.
 * @returns a map from the request of each pending WebSocket upgrade to its socket and remaining bytes.
 */
export function pendingUpgrades(server: Server, requests: RequestsInProgress): WeakMap<IncomingMessage, Upgrade> {
  const pending = new WeakMap<IncomingMessage, Upgrade>();
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    // Node no longer listens for errors of this socket, and an unhandled error would end the process.
    socket.off('error', destroy).on('error', destroy);
    whenAnswered(socket, requests, () => {
      if (!isWebSocket(request)) return parseAgain(server, request, socket, head);
      // Emitting `request` makes the upgrade pass through Fastify's hooks. `@fastify/websocket` does the same.
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
 * Calls `next` once no response is pending on the connection. A client may have sent the upgrade before the previous request
 * was answered (pipelining), and a connection carries one response at a time.
 */
function whenAnswered(socket: Socket, requests: RequestsInProgress, next: () => void): void {
  if (socket.destroyed) return;
  const before = requests.pendingOn(socket);
  if (before) before.raw.once('close', () => setImmediate(whenAnswered, socket, requests, next));
  else next();
}

/** Whether a request asks for an upgrade to WebSocket at `/graphql`. */
export function isWebSocket({ method, headers, url }: IncomingMessage): boolean {
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
  // Turns off the timeout of idle connections. Otherwise it could close the connection during the request.
  socket.setTimeout(0);
  // Node decodes header bytes as Latin-1; this restores the original bytes.
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}

/**
 * Checks the origin of a WebSocket upgrade. Browsers do not apply CORS to WebSockets, so the server must check the origin.
 * @param allowed origins that browsers may connect from; `undefined` allows any.
 * @throws ProblemError `FORBIDDEN`.
 */
export function checkOrigin({ headers, host }: FastifyRequest, allowed: readonly string[] | undefined): void {
  const { origin } = headers;
  if (origin === undefined || !allowed || allowed.includes('*') || allowed.includes(origin)) return;
  const isSame = URL.canParse(origin) && new URL(origin).host === host;
  if (!isSame) throw new ProblemError('FORBIDDEN', 'Browsers may not connect from this origin.');
}
