import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import { CloseCode, handleProtocols, type SubscribePayload } from 'graphql-ws';
import { LRUCache } from 'lru-cache';
import { type WebSocket, WebSocketServer } from 'ws';
import { Deadline } from '../../database/deadline';
import { ProblemError, problemOf } from '../../errors/errors';
import type { Caller } from '../../graphql/caller';
import { rejectOperation } from '../../graphql/outcome';
import { sizeOf } from '../../graphql/serialization';
import { type LiveResult, RunningSubscription } from '../../graphql/subscriptions';
import { idOfAddress } from '../../rate-limit/client-address';
import { type LimitStatus, limitError, type Subject } from '../../rate-limit/limit-status';
import type { Limiter } from '../../rate-limit/limiter';
import { Meter } from '../../rate-limit/meter';
import { PLANS } from '../../rate-limit/plans';
import { rateLimitHeaders } from '../../rate-limit/rate-limit-headers';
import { type AccessLog, isBanned } from '../access-log';
import { CONSTANT_HEADERS } from '../common-headers';
import { type Authenticator, KeyRejection, presentedKey, rejectKey } from '../identification';
import { BODY_LIMIT } from '../json-body';
import type { CreateGraphQLOperationRequest, IncomingRequest } from '../operation-request';
import type { RequestsInProgress } from '../requests-in-progress';
import { LimitPerCaller, type LiveOperations, shuttingDown, tooMany } from './live-operations';
import { MessageSender } from './message-sender';
import { type ConnectionOperation, INIT_MS, type Params, TransportWsHandler } from './transport-ws-handler';
import { checkOrigin, pendingUpgrades } from './upgrades';

/**
 * The WebSocket version of RFC 6455. Older versions are rejected, since their clients send the origin in a header that
 * `checkOrigin` does not read.
 */
const VERSION = '13';
/** Close codes from RFC 6455, section 7.4.1, and from the IANA registry of WebSocket close codes. */
const GOING_AWAY = 1001;
const POLICY_VIOLATION = 1008;
const TRY_AGAIN_LATER = 1013;

const PING_MS = 12_000;
/** On shutdown, running operations have this time to finish. Then clients have the same time to answer the close frame. */
const CLOSE_MS = 1_000;
const POLL_MS = 20;
/** Maximum number of bytes buffered for a client that keeps sending without reading. */
const MAX_UNREAD = 1024 * 1024;

/** Maximum number of messages per second from one caller, over all its connections. */
const MESSAGES_PER_SECOND = 100;
/** Bytes of traffic that count as one message. This limits clients that send empty frames, or a message that never ends. */
const MESSAGE_BYTES = 10 * 1024;
/**
 * Maximum number of messages from one caller in a burst. It is increased by two for each operation that the caller may run:
 * a message that starts the operation, and a message that stops it.
 */
const BURST = 100;
/** Maximum number of message counters in memory. A caller whose counter was evicted starts with a full burst again. */
const MAX_CALLERS = 10_000;
/**
 * Maximum number of fragments of a message, and of pieces in which a frame may arrive. Each takes some hundred bytes of memory,
 * even if it has only one byte.
 */
const MAX_FRAGMENTS = 64;
const MAX_CHUNKS = 1024;
const TOO_OFTEN = `More than ${MESSAGES_PER_SECOND} messages, or ${(MESSAGES_PER_SECOND * MESSAGE_BYTES) / 1024} KiB, a second`;

interface WebSocketsOptions {
  readonly authenticator: Authenticator;
  readonly limits: Limiter;
  readonly live: LiveOperations;
  readonly requests: RequestsInProgress;
  readonly accessLog: AccessLog;
  readonly logger: FastifyBaseLogger;
  /** Origins that browsers may connect from; `undefined` allows any. */
  readonly corsOrigins?: readonly string[];
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
  readonly createGraphQLOperationRequest: CreateGraphQLOperationRequest;
}

/** The longest time that Node's timers can wait. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** Maximum number of connections of one address that have not sent `connection_init` yet. */
const MAX_UNIDENTIFIED = 100;

/**
 * A WebSocket with its caller. A key in the headers of the upgrade request identifies the caller. Without such a key, the
 * caller is known only after `connection_init`, which may contain a key.
 */
interface WebSocketConnection {
  readonly webSocket: WebSocket;
  /** The TCP socket of the WebSocket. */
  readonly socket: Socket;
  /** The client's address as a rate-limit subject. A wrong key is charged to this subject. */
  readonly addressSubject: Subject;
  /**
   * Replaced when `connection_init` names another caller. Until then, the messages of the connection count for the caller of the
   * upgrade request.
   */
  identity: Identity;
  /** The deadline of `connection_init`. It ends with the connection. */
  readonly deadline: Deadline;
  /** Closes the connection when the token of its user ends. */
  expiry?: NodeJS.Timeout;
}

/** The caller of a connection, and what counts for this caller. */
interface Identity {
  readonly caller: Caller;
  /** The API key of the client. It is checked again for each operation. */
  readonly key: string | undefined;
  /** Counts the messages of the caller; before the caller is known, only the messages of the connection. */
  readonly messages: MessageCounter;
  /**
   * Stops counting the connection towards the limit of connections per caller, or, before `connection_init` and without a key,
   * per address.
   */
  uncount(): void;
}

/**
 * GraphQL over WebSocket at `/graphql`. `accept` upgrades a request. Each message is counted (`MessageCounter`) and then
 * handled by the connection's `TransportWsHandler`, which calls `authenticate` for `connection_init` and
 * `serveOperation` for `subscribe`.
 */
export class WebSockets {
  private readonly server = new WebSocketServer({
    noServer: true,
    maxPayload: BODY_LIMIT,
    maxFragments: MAX_FRAGMENTS,
    maxBufferedChunks: MAX_CHUNKS,
    handleProtocols,
  });
  private readonly upgrades: ReturnType<typeof pendingUpgrades>;
  private readonly unidentified = new LimitPerCaller(MAX_UNIDENTIFIED);
  private readonly counters: LRUCache<string, MessageCounter>;
  private readonly pinging = setInterval(() => this.pingAll(), PING_MS).unref();
  /** Connections that have not answered the last ping. */
  private readonly silent = new WeakSet<WebSocket>();

  constructor(
    server: Server,
    private readonly options: WebSocketsOptions,
  ) {
    const burst = BURST + 2 * options.live.connections.most;
    this.counters = new LRUCache({ max: MAX_CALLERS, memoMethod: () => new MessageCounter(burst) });
    this.upgrades = pendingUpgrades(server, options.requests);
    options.live.onClose(() => void this.close());
  }

  isUpgrade({ raw }: FastifyRequest): boolean {
    return this.upgrades.has(raw);
  }

  /**
   * Upgrades a connection. The quota and the ban of an address are not checked, since `connection_init` may contain a key.
   * @throws ProblemError if this method or the package ws rejects the handshake.
   */
  async accept(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { live, requests, corsOrigins, now } = this.options;
    checkOrigin(request, corsOrigins);
    if (request.headers['sec-websocket-version'] !== VERSION) throw notAHandshake(reply);
    const key = presentedKey(request);
    const limitStatus = await (key === undefined ? request.meter.peek() : request.meter.charge('free'));
    const rejection = key === undefined ? undefined : limitError(limitStatus);
    if (rejection) throw rejection;
    if (live.isClosing) throw shuttingDown();
    const upgrade = this.upgrades.get(request.raw);
    // If the client has disconnected, stop here: no `close` event would end the count that begins below.
    if (!upgrade || upgrade.socket.destroyed) return void reply.hijack();
    const uncount =
      key === undefined ? this.unidentified.count(request.caller) : live.connections.count(request.caller);
    if (!uncount && key === undefined) {
      // Not charged, since the connections may belong to callers with keys.
      request.meter.waive();
      throw TOO_MANY_UNIDENTIFIED;
    }
    if (!uncount) throw tooMany(live.connections.most);
    const headers = Object.entries({ ...reply.getHeaders(), ...rateLimitHeaders(limitStatus, now()) });
    const addHeaders = (lines: string[]) => {
      // Omits the constant headers. They are about content, and the response to an upgrade has no content.
      for (const [name, value] of headers) if (!(name in CONSTANT_HEADERS)) lines.push(`${name}: ${value}`);
    };
    let isRejected = false;
    const reject = () => {
      isRejected = true;
    };
    let opened: WebSocket | undefined;
    // Without a listener for `wsClientError`, ws would respond to a bad handshake itself, bypassing all hooks.
    this.server.once('headers', addHeaders).once('wsClientError', reject);
    this.server.handleUpgrade(request.raw, upgrade.socket, upgrade.head, (webSocket) => {
      opened = webSocket;
    });
    this.server.off('headers', addHeaders).off('wsClientError', reject);
    if (!opened) uncount();
    if (isRejected) throw notAHandshake(reply);
    reply.hijack();
    requests.stopCounting(request.slot);
    const addressSubject = { id: idOfAddress(request.ip), quota: PLANS.FREE };
    const { caller } = request;
    const deadline = new Deadline(INIT_MS + requests.limitMs);
    const messages = key === undefined ? new MessageCounter(BURST) : this.counters.memo(caller.id);
    const { socket } = upgrade;
    const identity = { caller, key, messages, uncount };
    if (opened) this.serve({ webSocket: opened, socket, addressSubject, identity, deadline });
  }

  /**
   * Handles the messages of a connection. Closes the connection if the client exceeds its limits or does not read responses.
   */
  private serve(connection: WebSocketConnection): void {
    const { webSocket, socket } = connection;
    const { requests } = this.options;
    const report = (error: unknown) => this.options.logger.error(error);
    const count = (messages: number) => {
      if (!connection.identity.messages.take(messages)) closeUnread(webSocket);
    };
    const dropSlowReader = () => {
      if (webSocket.bufferedAmount > MAX_UNREAD) webSocket.terminate();
    };
    const sender = new MessageSender(webSocket);
    const { unsent } = requests;
    const handler = new TransportWsHandler({
      protocol: webSocket.protocol,
      limitMs: requests.limitMs,
      send: (text) => sender.send(text, (bytes) => unsent.hold(connection.identity.caller, socket, bytes)),
      unreadProblem: () => unsent.rejectionOf(connection.identity.caller),
      close: (code, reason) => webSocket.close(code, reason),
      authenticate: (params) => this.authenticate(connection, params),
      runOperation: (payload, bytes, operation) =>
        requests.countOperation(connection.identity.caller, bytes, (rejection) =>
          this.serveOperation(connection, payload, operation, rejection),
        ),
    });
    this.closeAtExpiry(connection);
    socket.once('close', () => {
      clearTimeout(connection.expiry);
      connection.identity.uncount();
      connection.deadline.end();
      handler.end();
    });
    webSocket.on('message', (data) => {
      dropSlowReader();
      count(1);
      if (webSocket.readyState !== webSocket.OPEN) return;
      handler.receive(String(data)).catch((error) => {
        report(error);
        handler.end();
        webSocket.close(CloseCode.InternalServerError, 'Internal server error');
      });
    });
    socket.on('data', ({ length }) => count(length / MESSAGE_BYTES));
    webSocket.on('ping', () => {
      dropSlowReader();
      count(1);
    });
    webSocket.on('pong', () => {
      this.silent.delete(webSocket);
      count(1);
    });
    // Ignores errors from invalid frames and oversized messages: ws itself closes the connection with the correct code.
    webSocket.on('error', () => undefined);
  }

  /**
   * Handles `connection_init`. The message may contain a key, since browsers cannot set headers of the upgrade request. Callers
   * that are banned or have used up their quota are connected, too. Their operations get errors that give the reason.
   */
  private async authenticate(connection: WebSocketConnection, params: Params = {}): Promise<boolean> {
    const { authenticator, limits, logger } = this.options;
    const key = keyIn(params);
    if (key === undefined)
      return connection.identity.key !== undefined || this.identify(connection, connection.identity.caller, undefined);
    let caller: Caller | KeyRejection;
    try {
      caller = await authenticator.authenticate(key, {
        address: connection.addressSubject.id,
        deadline: connection.deadline,
      });
    } catch (error) {
      const { message, internal } = problemOf(error);
      if (internal) logger.error(error);
      return close(connection, TRY_AGAIN_LATER, message);
    }
    if (caller instanceof KeyRejection) {
      const { message } = await rejectKey(
        new Meter(limits, caller.chargedTo ?? connection.addressSubject),
        caller.reason,
      );
      return close(connection, CloseCode.Forbidden, message);
    }
    return this.identify(connection, caller, key);
  }

  /** Closes a connection when its user's token ends. Clients of graphql-ws then connect again, with a new token. */
  private closeAtExpiry(connection: WebSocketConnection): void {
    const { expiresAt } = connection.identity.caller;
    clearTimeout(connection.expiry);
    if (expiresAt === undefined) return;
    const left = expiresAt - this.options.now();
    if (left <= 0) close(connection, CloseCode.Forbidden, 'The token has expired.');
    else connection.expiry = setTimeout(() => this.closeAtExpiry(connection), Math.min(left, MAX_TIMER_MS)).unref();
  }

  /** Makes a caller the owner of a connection. @returns `false` if this closed the connection. */
  private identify(connection: WebSocketConnection, caller: Caller, key: string | undefined): boolean {
    const { live } = this.options;
    connection.identity.uncount();
    const uncount = live.connections.count(caller);
    if (!uncount) return close(connection, TRY_AGAIN_LATER, tooMany(live.connections.most).message);
    connection.identity = { caller, key, messages: this.counters.memo(caller.id), uncount };
    this.closeAtExpiry(connection);
    // If the client disconnected during the look-up, the `close` event has already ended the count of the previous caller only.
    if (connection.webSocket.readyState !== connection.webSocket.OPEN) uncount();
    return true;
  }

  /**
   * Runs the operation of a `subscribe` message. Replaces the stages of an HTTP request: checks the key again, charges an
   * operation that failed before it was charged, and logs the operation.
   * @param rejection the error if load shedding or the limit per caller rejects the operation. Such an operation is not
   * charged.
   */
  private async serveOperation(
    connection: WebSocketConnection,
    payload: SubscribePayload,
    operation: ConnectionOperation,
    rejection: ProblemError | undefined,
  ): Promise<LiveResult> {
    const { limits, accessLog, requests, createGraphQLOperationRequest } = this.options;
    const { startDeadline } = operation;
    const started = performance.now();
    let { caller } = connection.identity;
    let problem: unknown = rejection;
    let ban: LimitStatus | undefined;
    try {
      if (!rejection) {
        caller = await this.currentCaller(connection, startDeadline);
        ban = await limits.recordKnownBan(caller);
        problem = ban && limitError(ban);
      }
    } catch (error) {
      problem = error;
    }
    const meter = new Meter(limits, caller);
    if (ban) meter.settle(ban);
    const incoming: IncomingRequest = { id: randomUUID(), caller, meter, deadline: startDeadline };
    const operationRequest = createGraphQLOperationRequest(incoming);
    let result: LiveResult;
    try {
      if (problem) throw problem;
      const { identity, addressSubject } = connection;
      const credential = identity.key === undefined ? undefined : { key: identity.key, address: addressSubject.id };
      result = await this.options.live.runRequest(payload, operationRequest, credential);
    } catch (error) {
      result = rejectOperation(error, { operationRequest });
    } finally {
      startDeadline.end();
    }
    if (!rejection && !(result instanceof RunningSubscription) && result.status < 500) {
      const limited = limitError(await operationRequest.meter.charge('counted'));
      if (limited && result.status !== 429) result = rejectOperation(limited, { operationRequest });
    }
    if (!(result instanceof RunningSubscription)) {
      const isMutation = incoming.observer?.kind === 'mutation';
      const unread = isMutation ? undefined : requests.unsent.rejectionOf(caller);
      if (unread) {
        requests.rejected += 1;
        result = rejectOperation(unread, { operationRequest });
      }
      if (!operation.isOver) operation.reserved = requests.unsent.hold(caller, connection.socket, sizeOf(result.body));
    }
    const { label = 'graphql', name: operationName, worst: reported } = incoming.observer ?? {};
    // If the client has ended the operation, its cancellation is not an error.
    const worst = operation.isOver ? undefined : reported;
    const status = operation.isOver || result instanceof RunningSubscription ? 200 : result.status;
    const entry = {
      requestId: incoming.id,
      method: 'WEBSOCKET',
      caller: caller.id,
      operation: label,
      operationName,
      status,
      code: worst?.code,
      ms: performance.now() - started,
    };
    accessLog.record(entry, isBanned(status, operationRequest.meter), worst && { ...worst, interface: 'graphql' });
    return result;
  }

  /**
   * The caller for the next operation.
   * @throws ProblemError if the key is no longer accepted. The connection is then closed.
   */
  private async currentCaller(
    { identity: { key, caller }, webSocket, addressSubject }: WebSocketConnection,
    deadline: Deadline,
  ): Promise<Caller> {
    const { authenticator } = this.options;
    if (key === undefined) return caller;
    const current = await authenticator.authenticate(key, { address: addressSubject.id, deadline });
    if (!(current instanceof KeyRejection)) return current;
    webSocket.close(CloseCode.Forbidden, current.reason);
    throw new ProblemError('UNAUTHENTICATED', current.reason);
  }

  private pingAll(): void {
    for (const webSocket of this.server.clients) {
      if (this.silent.has(webSocket)) webSocket.terminate();
      else {
        this.silent.add(webSocket);
        webSocket.ping();
      }
    }
  }

  /** Closes all connections on shutdown, after running operations have had time to finish. No new operations start. */
  private async close(): Promise<void> {
    clearInterval(this.pinging);
    const end = performance.now() + CLOSE_MS;
    while (this.options.requests.operations > 0 && performance.now() < end) await sleep(POLL_MS);
    for (const webSocket of this.server.clients) webSocket.close(GOING_AWAY, 'Going away');
    setTimeout(() => {
      for (const webSocket of this.server.clients) webSocket.terminate();
    }, CLOSE_MS).unref();
  }
}

/** Maximum length of the reason in a close frame, in bytes (RFC 6455, section 5.5). */
const MAX_REASON = 123;

/** Closes a connection. @returns `false`. */
function close({ webSocket }: WebSocketConnection, code: number, reason: string): false {
  const bytes = Buffer.from(reason);
  webSocket.close(code, bytes.length > MAX_REASON ? `${bytes.subarray(0, MAX_REASON - 3)}...` : bytes);
  return false;
}

const TOO_MANY_UNIDENTIFIED = new ProblemError(
  'RATE_LIMITED',
  `An address may have at most ${MAX_UNIDENTIFIED} WebSocket connections that have not sent connection_init.`,
  undefined,
  undefined,
  INIT_MS / 1000,
);

function notAHandshake(reply: FastifyReply): ProblemError {
  reply.header('sec-websocket-version', VERSION);
  return new ProblemError('BAD_REQUEST', `This is not a valid WebSocket handshake of version ${VERSION}.`);
}

/**
 * Closes the connection of a client that sends too much. Nothing more is read from the connection, not even the client's
 * close frame.
 */
function closeUnread(webSocket: WebSocket): void {
  webSocket.close(POLICY_VIOLATION, TOO_OFTEN);
  if (webSocket.isPaused) return;
  webSocket.pause();
  setTimeout(() => webSocket.terminate(), CLOSE_MS).unref();
}

/** Token bucket of one caller. It gains `MESSAGES_PER_SECOND` tokens a second, and holds at most `burst`. */
class MessageCounter {
  private left: number;
  private at = performance.now();

  constructor(private readonly burst: number) {
    this.left = burst;
  }

  /** Takes tokens for this many messages. @returns `false`, without taking tokens, if the bucket has too few tokens. */
  take(messages: number): boolean {
    const now = performance.now();
    this.left = Math.min(this.burst, this.left + ((now - this.at) * MESSAGES_PER_SECOND) / 1000);
    this.at = now;
    if (this.left < messages) return false;
    this.left -= messages;
    return true;
  }
}

/**
 * The key in the parameters of `connection_init`: the parameter `apiKey`, or a parameter with the name of an HTTP header for
 * keys. Names are case-insensitive.
 */
function keyIn(params: Params): string | undefined {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(params)) {
    // A value that is not a string was probably meant as a key. It becomes a text that is rejected.
    if (value !== null && value !== undefined)
      headers[name.toLowerCase()] = typeof value === 'string' ? value.trim() : 'not a text';
  }
  return headers.apikey || presentedKey({ headers });
}
