import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What the headers that a request is read again without mean: that a connection is to change its protocol. */
const OF_UPGRADES = /^(connection|upgrade|http2-settings|sec-websocket-.*)$/i;

/** An upgrade that is being decided on. */
export interface Upgrade {
  readonly socket: Socket;
  /** What the client has sent already in the other protocol. */
  readonly head: Buffer;
}

/**
 * The requests to change to WebSocket at one path. They pass all hooks like any other request, so that who may not do so
 * gets the answer, and the headers, of any other; the route at the path takes those that may.
 *
 * As soon as anybody listens to `upgrade`, Node hands over every request that asks for any other protocol, and stops reading
 * it as HTTP: those of HTTP clients that offer HTTP/2 (`Upgrade: h2c`), Java's for one, with their bodies. A server may
 * ignore the offer (RFC 9110, section 7.8): they are read again as if they had not made it.
 */
export class Upgrades {
  private readonly open = new WeakMap<IncomingMessage, Upgrade>();
  private readonly guarded = new WeakSet<Socket>();

  constructor(server: Server, path: string) {
    server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      this.guard(socket);
      whenAnswered(socket, () => {
        if (!isWebSocket(request) || request.url?.split('?', 1)[0] !== path)
          return readAgain(server, request, socket, head);
        const response = new ServerResponse(request);
        response.shouldKeepAlive = false;
        response.assignSocket(socket);
        response.once('finish', () => socket.destroySoon());
        this.open.set(request, { socket, head });
        server.emit('request', request, response);
      });
    });
  }

  /** The connection of a request that asks for WebSocket; `undefined` for all others. */
  of(request: IncomingMessage): Upgrade | undefined {
    return this.open.get(request);
  }

  /** Node has stopped listening to the connection; an error that nobody listens to would end the process. */
  private guard(socket: Socket): void {
    if (this.guarded.has(socket)) return;
    this.guarded.add(socket);
    socket.on('error', () => socket.destroy());
  }
}

/**
 * Goes on when nothing is left to be answered on the connection: a client may send a request before it has the answer to the
 * one before (pipelining), and a connection takes one answer at a time.
 */
function whenAnswered(socket: Socket, goOn: () => void): void {
  if (socket.destroyed) return;
  const { _httpMessage: before } = socket as { _httpMessage?: ServerResponse | null };
  if (before) before.once('close', () => setImmediate(whenAnswered, socket, goOn));
  else goOn();
}

function isWebSocket({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';
}

function readAgain(server: Server, request: IncomingMessage, socket: Socket, head: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (!OF_UPGRADES.test(rawHeaders[i] ?? '')) lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`);
  }
  // Else the time that it may be idle would go on while it is not.
  socket.setTimeout(0);
  // Node reads header bytes as Latin-1; this gives them back as they came.
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}
