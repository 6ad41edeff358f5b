import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CloseCode, handleProtocols } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Deadline } from '../../database/deadline';
import { ProblemError } from '../../errors/errors';
import { subjectOfAddress } from '../../rate-limit/client-address';
import { refusalOf } from '../../rate-limit/limit-problem';
import { PLANS } from '../../rate-limit/plans';
import { rateLimitHeaders } from '../../rate-limit/rate-limit-headers';
import { presentedKey } from '../caller';
import { CONSTANT_HEADERS } from '../common-headers';
import { BODY_LIMIT } from '../error-handling';
import { aboutToEnd, tooMany } from './live-operations';
import { type Fault, faultIn, messageAllowances, TOO_OFTEN } from './message-rules';
import type { Client, SocketOptions } from './socket-operation';
import { socketProtocol } from './socket-protocol';
import { checkOrigin, pendingUpgrades } from './upgrades';

export interface WebSocketsOptions extends SocketOptions {
  /** Origins that browsers may connect from; `undefined` allows any. */
  readonly corsOrigins?: readonly string[];
  /** Milliseconds of the Unix epoch. */
  readonly now: () => number;
}

/** RFC 6455. An older one would have its origin in another header. */
const VERSION = '13';
const PING_MS = 12_000;
/** On shutdown, how long operations may take to finish, and then clients to answer the close frame. */
const CLOSE_MS = 1_000;
/** Maximum number of bytes buffered for a client that keeps sending without reading. */
const MAX_UNREAD = 1024 * 1024;
const GOING_AWAY = 1001;
const POLL_MS = 20;
/** Messages that a caller may send at once beside those that start and stop all the operations that it may have. */
const BURST = 100;

function notAHandshake(reply: FastifyReply): ProblemError {
  reply.header('sec-websocket-version', VERSION);
  return new ProblemError('BAD_REQUEST', `This is not a valid WebSocket handshake of version ${VERSION}.`);
}

/** Closes a connection. One that sends too much may never stop, so nothing more of it is read, not even its answer. */
function drop(socket: WebSocket, fault: Fault): void {
  socket.close(fault.code, fault.reason);
  if (fault !== TOO_OFTEN || socket.isPaused) return;
  socket.pause();
  setTimeout(() => socket.terminate(), CLOSE_MS).unref();
}

/** Connections for GraphQL over WebSocket at `/graphql`: who may open one, and when it is closed. */
export class WebSockets {
  private readonly server: WebSocketServer;
  private readonly protocol: ReturnType<typeof socketProtocol>;
  private readonly upgrades: ReturnType<typeof pendingUpgrades>;
  private readonly allowances: ReturnType<typeof messageAllowances>;
  private readonly pinging = setInterval(() => this.pingAll(), PING_MS).unref();
  /** Connections that have not answered the last ping. */
  private readonly silent = new WeakSet<WebSocket>();

  constructor(
    server: Server,
    private readonly options: WebSocketsOptions,
  ) {
    this.server = new WebSocketServer({ noServer: true, maxPayload: BODY_LIMIT, handleProtocols });
    this.protocol = socketProtocol(options);
    this.allowances = messageAllowances(BURST + 2 * options.live.connections.most);
    this.upgrades = pendingUpgrades(server, options.requests);
    options.live.onClose(() => void this.close());
  }

  isUpgrade({ raw }: FastifyRequest): boolean {
    return this.upgrades.has(raw);
  }

  /**
   * Upgrades a connection. What ws refuses is refused by us, so that a refusal is answered like that of any other request.
   * @throws ProblemError if it is refused.
   */
  async accept(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { live, requests, corsOrigins, now } = this.options;
    checkOrigin(request, corsOrigins);
    if (request.headers['sec-websocket-version'] !== VERSION) throw notAHandshake(reply);
    const limitStatus = await request.meter.take(0);
    const refused = refusalOf(limitStatus);
    if (refused) throw refused;
    if (live.isClosing) throw aboutToEnd();
    const upgrade = this.upgrades.get(request.raw);
    // The client has left meanwhile: no `close` event would release what is taken from here on.
    if (!upgrade || upgrade.socket.destroyed) return void reply.hijack();
    const leave = live.connections.take(request.caller.id);
    if (!leave) {
      reply.header('retry-after', '5');
      throw tooMany(live.connections.most);
    }
    const address = { id: subjectOfAddress(request.ip), quota: PLANS.FREE };
    const running = new Set<Deadline>();
    const client = { address, caller: request.caller, key: presentedKey(request), leave, running };
    upgrade.socket.once('close', () => {
      client.leave();
      for (const deadline of running) deadline.end();
    });
    const headers = Object.entries({ ...reply.getHeaders(), ...rateLimitHeaders(limitStatus, now()) });
    const addHeaders = (lines: string[]) => {
      // Those that are about content have no meaning here.
      for (const [name, value] of headers) if (!(name in CONSTANT_HEADERS)) lines.push(`${name}: ${value}`);
    };
    let isRefused = false;
    const refuse = () => {
      isRefused = true;
    };
    // Without a listener for what it refuses, ws would answer that itself, bypassing all hooks.
    this.server.once('headers', addHeaders).once('wsClientError', refuse);
    this.server.handleUpgrade(request.raw, upgrade.socket, upgrade.head, (socket) => {
      // From here on nothing else may be written to it.
      reply.hijack();
      this.serve(Object.assign(client, { socket }), upgrade.socket);
    });
    this.server.off('headers', addHeaders).off('wsClientError', refuse);
    if (isRefused) {
      leave();
      throw notAHandshake(reply);
    }
    // Neither is called if the client has just left.
    if (!reply.sent) reply.hijack();
    requests.stopCounting(request.slot);
  }

  private serve(client: Client, connection: Socket): void {
    const { socket } = client;
    const allowance = () => this.allowances.memo(client.caller.id);
    const isRefused = (fault: Fault | undefined) => {
      if (fault) drop(socket, fault);
      return socket.readyState !== socket.OPEN;
    };
    const report = (error: unknown) => this.options.logger.error(error);
    const dropUnread = () => {
      if (socket.bufferedAmount > MAX_UNREAD) socket.terminate();
    };
    const closed = this.protocol.opened(
      {
        protocol: socket.protocol,
        // Resolves once the message is sent, so that results are pulled only as fast as the client reads.
        send: (text) =>
          new Promise((resolve) => {
            if (socket.readyState === socket.OPEN) socket.send(text, () => resolve());
            else resolve();
          }),
        close: (code, reason) => socket.close(code, reason),
        onMessage: (take) =>
          socket.on('message', (data) => {
            dropUnread();
            const text = String(data);
            if (isRefused(allowance().takeMessage() ?? faultIn(text))) return;
            take(text).catch((error) => {
              report(error);
              socket.close(CloseCode.InternalServerError, 'Internal server error');
            });
          }),
      },
      client,
    );
    connection.on('data', ({ length }) => void isRefused(allowance().takeBytes(length)));
    socket.on('ping', () => {
      dropUnread();
      isRefused(allowance().takeMessage());
    });
    socket.on('pong', () => {
      this.silent.delete(socket);
      isRefused(allowance().takeMessage());
    });
    // Invalid frames and oversized messages: ws closes the connection with the appropriate code.
    socket.on('error', () => undefined);
    socket.once('close', (code, reason) => void closed(code, String(reason)).catch(report));
  }

  private pingAll(): void {
    for (const socket of this.server.clients) {
      if (this.silent.has(socket)) socket.terminate();
      else {
        this.silent.add(socket);
        socket.ping();
      }
    }
  }

  /** Lets running operations finish first; nothing new is started. */
  private async close(): Promise<void> {
    clearInterval(this.pinging);
    const end = performance.now() + CLOSE_MS;
    while (this.options.requests.operations > 0 && performance.now() < end) await sleep(POLL_MS);
    for (const socket of this.server.clients) socket.close(GOING_AWAY, 'Going away');
    setTimeout(() => {
      for (const socket of this.server.clients) socket.terminate();
    }, CLOSE_MS).unref();
  }
}
