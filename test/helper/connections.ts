import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { requestsIn, responsesIn } from './messages';
import type { RestAnswer } from './openapi';

/** Matches the head of a response that starts a live stream: WebSocket messages or server-sent events. */
const LIVE = /^HTTP\/1\.1 101 |\r\ncontent-type: text\/event-stream/i;

/** The traffic of a connection, with bytes as characters (latin1). */
class Connection {
  sent = '';
  received = '';
  private isLive = false;
  private taken = 0;

  hear(direction: 'sent' | 'received', text: string): void {
    if (this.isLive) return;
    this[direction] += text;
    this.isLive = direction === 'received' && LIVE.test(text);
  }

  /** @returns the responses completed since the last call. */
  take(): RestAnswer[] {
    const requests = requestsIn(this.sent);
    const answers = responsesIn(this.received, requests).map(({ status, headers, body }, i) => {
      const { method = '', url } = requests[i] ?? {};
      return { method, url, status, headers, text: body };
    });
    const fresh = answers.slice(this.taken);
    this.taken = answers.length;
    return fresh;
  }
}

const connections = new Map<Socket, Connection>();
/** Connections closed since the last check. */
let closed: Connection[] = [];

/** Starts recording the HTTP traffic of this process, both as a client and as a server. */
export function listenIn(): void {
  subscribe('net.client.socket', onClient);
  subscribe('http.server.request.start', onRequest);
}

export function stopListening(): void {
  unsubscribe('net.client.socket', onClient);
  unsubscribe('http.server.request.start', onRequest);
  connections.clear();
  closed = [];
}

/** Checks all responses sent or received since the last call. @throws Error if a response violates the OpenAPI document. */
export function holdWhatWasHeard(): void {
  const answers = answersHeard();
  if (!answers.length) return;
  // Loaded only when needed, because it loads the schema, and most tests use no connections.
  const { holdToDescription } = require('./openapi') as typeof import('./openapi');
  holdToDescription(answers);
}

/** The new responses on all connections. If this process has both ends of a connection, its responses occur twice. */
function answersHeard(): RestAnswer[] {
  const heard = [...connections.values(), ...closed];
  closed = [];
  return heard.flatMap((connection) => connection.take()).filter((answer) => !isFromProxy(answer) && !isStream(answer));
}

/** Whether a proxy has changed the response. The gateway's own response is heard on the connection of the proxy. */
function isFromProxy({ headers }: RestAnswer): boolean {
  return ['server', 'via', 'content-encoding'].some((name) => name in headers);
}

/** Whether the response is an event stream. Over HTTP/1.0, it has no chunks, and so it seems to be complete at any time. */
function isStream({ headers }: RestAnswer): boolean {
  return String(headers['content-type']).startsWith('text/event-stream');
}

function onClient(message: unknown): void {
  const { socket } = message as { socket: Socket };
  const connection = begin(socket, 'sent');
  socket.push = (chunk, encoding) => {
    const text: string = chunk?.toString('latin1') ?? '';
    if (!connection.received && !'HTTP/'.startsWith(text.slice(0, 5))) leave(socket);
    connection.hear('received', text);
    return Socket.prototype.push.call(socket, chunk, encoding);
  };
}

/** Records a request from a diagnostics channel, because Node's HTTP server does not read requests from the stream. */
function onRequest(message: unknown): void {
  const { socket, request } = message as { socket: Socket; request: IncomingMessage };
  const connection = connections.get(socket) ?? begin(socket, 'received');
  connection.hear('sent', `${request.method} ${request.url} HTTP/1.1\r\n\r\n`);
}

/** @param written how data written to the socket counts: `sent` on a client's socket, `received` on a server's socket. */
function begin(socket: Socket, written: 'sent' | 'received'): Connection {
  const connection = new Connection();
  connections.set(socket, connection);
  socket.once('close', () => {
    if (connections.delete(socket)) closed.push(connection);
  });
  const { _write, _writev } = Socket.prototype;
  socket._write = (chunk, encoding, done) => {
    connection.hear(written, latin1(chunk, encoding));
    _write.call(socket, chunk, encoding, done);
  };
  socket._writev = (chunks, done) => {
    for (const { chunk, encoding } of chunks) connection.hear(written, latin1(chunk, encoding));
    _writev?.call(socket, chunks, done);
  };
  return connection;
}

/** Stops recording a connection that does not carry HTTP, such as a connection to Redis. */
function leave(socket: Socket): void {
  connections.delete(socket);
  for (const method of ['push', '_write', '_writev']) Reflect.deleteProperty(socket, method);
}

function latin1(chunk: string | Uint8Array, encoding: BufferEncoding): string {
  return (typeof chunk === 'string' ? Buffer.from(chunk, encoding) : Buffer.from(chunk)).toString('latin1');
}
