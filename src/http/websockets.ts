import { randomUUID } from 'node:crypto';
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import { GraphQLError, type GraphQLFormattedError, type GraphQLSchema, parse } from 'graphql';
import { CloseCode, handleProtocols, makeServer, type SubscribePayload } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Caller } from '../access/caller';
import type { KeyRing } from '../access/key-ring';
import type { Database } from '../database/database';
import { Context } from '../graphql/context';
import { withText } from '../graphql/document-ids';
import { ProblemError } from '../graphql/errors';
import type { KnownDocuments } from '../graphql/known-documents';
import { refusalOf } from '../graphql/limits';
import { refusal } from '../graphql/outcome';
import { RunningSubscription } from '../graphql/running-subscription';
import { subjectOfAddress } from '../rate-limit/client-address';
import { Meter } from '../rate-limit/meter';
import { PLANS } from '../rate-limit/plans';
import type { Subject } from '../rate-limit/standing';
import type { Store } from '../rate-limit/store';
import { keyOf, type PresentedKey, presentedKey, WRONG_KEY } from './caller';
import { aboutToEnd, type LiveOperations, tooMany } from './live-operations';
import type { Metrics } from './metrics';
import { Observation } from './observation';
import type { Upgrade } from './upgrades';

export interface WebSocketsOptions {
  readonly schema: GraphQLSchema;
  readonly database: Database;
  readonly keys: KeyRing;
  readonly limits: Store;
  /** Whether callers without a key are told less of the schema. */
  readonly hidesSuggestions?: boolean;
  readonly live: LiveOperations;
  readonly documents: KnownDocuments;
  readonly metrics: Metrics;
  readonly logger: FastifyBaseLogger;
  /** Bytes of one message at most. */
  readonly maxMessage: number;
  /** Origins that browsers may connect from; `undefined` is any. */
  readonly corsOrigins?: readonly string[];
}

/** One connection. Who it belongs to is told by the upgrade request, or by the first message after all. */
interface Client {
  readonly socket: WebSocket;
  /** Whom wrong keys are counted against. */
  readonly address: Subject;
  caller: Caller;
  /** Looked at again for each operation. */
  key: PresentedKey | undefined;
  /** Gives back its place among its caller's connections. */
  leave(): void;
}

/** How long a client may take to say who it is. */
const INIT_MS = 3_000;
const PING_MS = 12_000;
/** How long clients may take to answer a goodbye. */
const GOODBYE_MS = 1_000;
/** Bytes that may wait for a client that goes on sending without reading. */
const MAX_UNREAD = 1024 * 1024;
const TRY_AGAIN_LATER = 1013;
const GOING_AWAY = 1001;

const HANDSHAKE_KEY = /^[+/0-9A-Za-z]{22}==$/;
/** graphql-ws wants to see some document; what runs is decided by {@link WebSockets.run}. */
const ANY_DOCUMENT = parse('{ __typename }');

/** GraphQL over WebSocket at `/graphql`, by the protocol graphql-transport-ws: subscriptions, queries and mutations. */
export class WebSockets {
  private readonly server: WebSocketServer;
  private readonly pinging = setInterval(() => this.pingAll(), PING_MS).unref();
  /** Those that have not answered the last ping. */
  private readonly silent = new WeakSet<WebSocket>();

  private readonly protocol = makeServer<Record<string, unknown>, Client>({
    connectionInitWaitTimeout: INIT_MS,
    onConnect: ({ connectionParams, extra }) => this.greet(extra, connectionParams),
    onSubscribe: ({ extra }, _id, payload) => this.run(extra, payload),
    execute: ({ contextValue }) => contextValue as never,
    onNext: (_connection, _id, _payload, _args, result) => result,
  });

  constructor(private readonly options: WebSocketsOptions) {
    const { live, maxMessage } = options;
    this.server = new WebSocketServer({ noServer: true, maxPayload: maxMessage, handleProtocols });
    live.onClose(() => this.close());
  }

  /** How many connections are open. */
  get count(): number {
    return this.server.clients.size;
  }

  /**
   * Takes a connection over, or answers the request as any other.
   * @throws ProblemError why it may not.
   */
  async accept(request: FastifyRequest, reply: FastifyReply, { socket, head }: Upgrade): Promise<void> {
    const { live } = this.options;
    checkHandshake(request, reply);
    this.checkOrigin(request);
    const refused = refusalOf(await request.meter.take(0));
    if (refused) throw refused;
    if (live.isClosing) throw aboutToEnd();
    // It has left meanwhile: nothing would tell when what it takes from here on is to be given back.
    if (socket.destroyed) return void reply.hijack();
    const leave = live.connections.take(request.caller.id);
    if (!leave) {
      reply.header('retry-after', '5');
      throw tooMany(live.connections.most);
    }
    const client = {
      address: { id: subjectOfAddress(request.ip), quota: PLANS.FREE },
      caller: request.caller,
      key: keyOf(request),
      leave,
    };
    reply.hijack();
    reply.raw.detachSocket(socket);
    // As far as HTTP is concerned it has been answered.
    reply.raw.emit('close');
    socket.once('close', () => client.leave());
    this.server.handleUpgrade(request.raw, socket, head, (opened) =>
      this.serve(Object.assign(client, { socket: opened })),
    );
  }

  private serve(client: Client): void {
    const { socket } = client;
    const report = (error: unknown) => this.options.logger.error(error);
    const dropUnread = () => {
      if (socket.bufferedAmount > MAX_UNREAD) socket.terminate();
    };
    const closed = this.protocol.opened(
      {
        protocol: socket.protocol,
        // Resolves once the message has left, so that no more is asked for than the client reads.
        send: (text) =>
          new Promise((resolve) => {
            if (socket.readyState === socket.OPEN) socket.send(text, () => resolve());
            else resolve();
          }),
        close: (code, reason) => socket.close(code, reason),
        onMessage: (take) =>
          socket.on('message', (data) => {
            dropUnread();
            take(String(data)).catch((error) => {
              report(error);
              socket.close(CloseCode.InternalServerError, 'Internal server error');
            });
          }),
      },
      client,
    );
    socket.on('ping', dropUnread);
    socket.on('pong', () => this.silent.delete(socket));
    // Broken frames and messages that are too large: ws closes the connection with the code for it.
    socket.on('error', () => undefined);
    socket.once('close', (code, reason) => void closed(code, String(reason)).catch(report));
  }

  /** The first message. It may bring a key, which browsers cannot send along with the request. */
  private async greet(client: Client, params: Record<string, unknown> = {}): Promise<boolean> {
    const { keys, limits, live, logger } = this.options;
    const whole = keyIn(params);
    if (whole === undefined) return true;
    const key = { whole, address: client.address.id };
    let caller: Caller | undefined;
    try {
      caller = await keys.recognise(whole, key.address);
    } catch (error) {
      logger.error(error);
      client.socket.close(TRY_AGAIN_LATER, 'The key cannot be looked up at present.');
      return false;
    }
    if (!caller) {
      await limits.take(client.address, 1, 'counted');
      client.socket.close(CloseCode.Forbidden, WRONG_KEY);
      return false;
    }
    const leave = live.connections.take(caller.id);
    if (!leave) {
      client.socket.close(TRY_AGAIN_LATER, tooMany(live.connections.most).message);
      return false;
    }
    client.leave();
    Object.assign(client, { caller, key, leave });
    // It may have gone meanwhile.
    if (client.socket.readyState !== client.socket.OPEN) leave();
    return true;
  }

  /** Runs an operation: as what graphql-ws executes, or as the errors that it is refused with. */
  private async run(client: Client, payload: SubscribePayload) {
    const { live, documents, limits, database, metrics, logger, schema, hidesSuggestions } = this.options;
    const started = performance.now();
    const observation = new Observation(logger);
    const as = (caller: Caller) => {
      const hides = hidesSuggestions === true && !caller.apiKey;
      return new Context(database, caller, new Meter(limits, caller), randomUUID(), observation, hides);
    };
    let context = as(client.caller);
    let result: RunningSubscription | Awaited<ReturnType<LiveOperations['run']>>;
    try {
      context = as(await this.callerOf(client));
      const asked = withText({ ...payload }, documents) as unknown as SubscribePayload;
      result = await live.run(asked, context, client.key);
    } catch (error) {
      result = refusal(error, context);
    }
    if (!(result instanceof RunningSubscription) && result.status < 500) {
      // What was refused before it was charged counts as one request.
      const refused = refusalOf(await context.meter.take(1));
      if (refused && result.status !== 429) result = refusal(refused, context);
    }
    const status = result instanceof RunningSubscription ? 200 : result.status;
    const { operation = 'graphql', name } = observation;
    const ms = performance.now() - started;
    metrics.observe(operation, status, ms);
    const { requestId, caller } = context;
    const line = {
      requestId,
      method: 'WEBSOCKET',
      caller: caller.id,
      operation,
      operationName: name,
      status,
    };
    logger.info({ ...line, ms: Math.round(ms * 10) / 10 }, 'request');
    if (result instanceof RunningSubscription) return executing(schema, result);
    if (result.status === 200) return executing(schema, result.body);
    return (result.body.errors ?? []).map((error) => new Told(error));
  }

  /** @throws ProblemError when its key is no longer accepted: the connection is closed. */
  private async callerOf(client: Client): Promise<Caller> {
    if (client.key === undefined) return client.caller;
    const caller = await this.options.keys.recognise(client.key.whole, client.key.address);
    if (caller) return caller;
    client.socket.close(CloseCode.Forbidden, WRONG_KEY);
    throw new ProblemError('UNAUTHENTICATED', WRONG_KEY);
  }

  /** WebSockets are not subject to CORS: what other origins may do is for the server to say. */
  private checkOrigin({ headers, host }: FastifyRequest): void {
    const { corsOrigins } = this.options;
    const { origin } = headers;
    if (origin === undefined || !corsOrigins || corsOrigins.includes('*') || corsOrigins.includes(origin))
      return;
    const isOwn = URL.canParse(origin) && new URL(origin).host === host;
    if (!isOwn) throw new ProblemError('FORBIDDEN', 'Browsers may not connect from this origin.');
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

  private close(): void {
    clearInterval(this.pinging);
    for (const socket of this.server.clients) socket.close(GOING_AWAY, 'Going away');
    setTimeout(() => {
      for (const socket of this.server.clients) socket.terminate();
    }, GOODBYE_MS).unref();
  }
}

/** An error in the form that it is told in already. */
class Told extends GraphQLError {
  constructor(private readonly formatted: GraphQLFormattedError) {
    super(formatted.message);
  }

  override toJSON(): GraphQLFormattedError {
    return this.formatted;
  }
}

function executing(schema: GraphQLSchema, contextValue: unknown) {
  return { schema, document: ANY_DOCUMENT, contextValue };
}

/** RFC 6455, section 4.2.1. */
function checkHandshake({ headers }: FastifyRequest, reply: FastifyReply): void {
  const isRight =
    HANDSHAKE_KEY.test(headers['sec-websocket-key'] ?? '') && headers['sec-websocket-version'] === '13';
  if (isRight) return;
  reply.header('sec-websocket-version', '13');
  throw new ProblemError('BAD_REQUEST', 'This is no WebSocket handshake of version 13.');
}

/** The key among the parameters of `connection_init`, under the names of the headers in any case, or as `apiKey`. */
function keyIn(params: Record<string, unknown>): string | undefined {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(params)) {
    if (typeof value === 'string') headers[name.toLowerCase()] = value;
  }
  return headers.apikey ?? presentedKey({ headers });
}
