import { randomUUID } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import { GraphQLError, type GraphQLFormattedError, type GraphQLSchema, parse } from 'graphql';
import { CloseCode, makeServer, type Server, type SubscribePayload } from 'graphql-ws';
import type { WebSocket } from 'ws';
import type { Caller } from '../../access/caller';
import type { KeyRing } from '../../access/key-ring';
import type { Database } from '../../database/database';
import { GRAPHQL_API, type OperationRequest } from '../../graphql/context';
import { withText } from '../../graphql/document-ids';
import { ProblemError } from '../../graphql/errors';
import type { KnownDocuments } from '../../graphql/known-documents';
import { refusalOf } from '../../graphql/limits';
import { type Outcome, refusal } from '../../graphql/outcome';
import { RunningSubscription } from '../../graphql/running-subscription';
import { Meter } from '../../rate-limit/meter';
import type { Subject } from '../../rate-limit/standing';
import type { TallyStore } from '../../rate-limit/tally-store';
import { type PresentedKey, presentedKey, WRONG_KEY } from '../callers/presented-key';
import type { Tarpit } from '../callers/tarpit';
import type { Journal } from '../observation/access-log';
import type { Metrics } from '../observation/metrics';
import { Observation } from '../observation/request-observation';
import type { Overload } from '../protection/overload';
import type { RequestsInProgress } from '../protection/requests-in-progress';
import { type LiveOperations, tooMany } from './live-operations';

export interface SocketProtocolOptions {
  readonly schema: GraphQLSchema;
  readonly database: Database;
  readonly keys: KeyRing;
  readonly limits: TallyStore;
  readonly tarpit: Tarpit;
  /** Whether callers without a key get no suggestions of schema names. */
  readonly hidesSuggestions?: boolean;
  readonly live: LiveOperations;
  readonly documents: KnownDocuments;
  readonly requests: RequestsInProgress;
  readonly overload: Overload;
  readonly metrics: Metrics;
  readonly journal: Journal;
  readonly logger: FastifyBaseLogger;
}

/** One connection. Its caller is identified by the upgrade request, or else by the first message. */
export interface Client {
  readonly socket: WebSocket;
  /** What wrong keys are counted against. */
  readonly address: Subject;
  caller: Caller;
  /** Checked again for each operation. */
  key: PresentedKey | undefined;
  /** Releases its slot among its caller's connections. */
  leave(): void;
}

type Params = Record<string, unknown>;

/** How long a client may take to send `connection_init`. */
const INIT_MS = 3_000;
const TRY_AGAIN_LATER = 1013;

/** graphql-ws requires a document; what actually runs is decided by {@link SocketProtocol.run}. */
const ANY_DOCUMENT = parse('{ __typename }');

/**
 * The protocol graphql-transport-ws over WebSocket: authenticates clients, and runs their subscriptions, queries and
 * mutations.
 */
export class SocketProtocol {
  readonly server: Server<Client> = makeServer<Params, Client>({
    connectionInitWaitTimeout: INIT_MS,
    onConnect: ({ connectionParams, extra }) => this.greet(extra, connectionParams),
    onSubscribe: async ({ extra }, _id, payload) => {
      const finish = this.options.requests.begin();
      this.running += 1;
      try {
        return await this.run(extra, payload);
      } finally {
        this.running -= 1;
        finish();
      }
    },
    execute: ({ contextValue }) => contextValue as never,
    onNext: (_connection, _id, _payload, _args, result) => result,
  });

  /** Operations in progress: queries, mutations, and subscriptions that are starting. */
  running = 0;

  constructor(private readonly options: SocketProtocolOptions) {}

  /** Handles the first message. It may carry a key, which browsers cannot send with the upgrade request. */
  private async greet(client: Client, params: Params = {}): Promise<boolean> {
    const { keys, limits, live, logger } = this.options;
    const whole = keyIn(params);
    if (whole === undefined) return true;
    const key = { whole, address: client.address.id };
    let caller: Caller | undefined;
    try {
      caller = await keys.recognise(whole, key.address);
    } catch (error) {
      logger.error(error);
      client.socket.close(TRY_AGAIN_LATER, 'The key cannot be checked at the moment.');
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
    // The client may have left meanwhile.
    if (client.socket.readyState !== client.socket.OPEN) leave();
    return true;
  }

  /**
   * Runs an operation. A caller that is already banned is refused up front, without a log line and delayed, as over HTTP.
   * @returns what graphql-ws is to execute, or the errors that the operation is refused with.
   */
  private async run(client: Client, payload: SubscribePayload) {
    const { live, documents, limits, tarpit, database, metrics, journal, logger, schema, hidesSuggestions } =
      this.options;
    const started = performance.now();
    const requestId = randomUUID();
    const observation = new Observation({ error: (err) => logger.error({ err, requestId }) });
    const as = (caller: Caller): OperationRequest => ({
      session: database,
      caller,
      meter: new Meter(limits, caller),
      requestId,
      observer: observation,
      api: GRAPHQL_API,
      hidesSuggestions: hidesSuggestions === true && !caller.apiKey,
    });
    let request = as(client.caller);
    let result: RunningSubscription | Outcome;
    let banned: ProblemError | undefined;
    try {
      this.options.overload.check();
      request = as(await this.callerOf(client));
      banned = limits.wasBanned(request.caller.id) ? refusalOf(await request.meter.take(1)) : undefined;
      if (banned) {
        await new Promise<void>((resolve) => tarpit.refuse(request.caller.id, resolve));
        throw banned;
      }
      const asked = withText({ ...payload }, documents) as unknown as SubscribePayload;
      result = await live.run(asked, request, client.key);
    } catch (error) {
      result = refusal(error, { request });
    }
    if (!(result instanceof RunningSubscription) && result.status < 500) {
      // An operation refused before it was charged counts as one request.
      const refused = refusalOf(await request.meter.take(1));
      if (refused && result.status !== 429) result = refusal(refused, { request });
    }
    const status = result instanceof RunningSubscription ? 200 : result.status;
    const { operation = 'graphql', name } = observation;
    const ms = performance.now() - started;
    metrics.observe(operation, status, ms);
    if (!banned) {
      const method = 'WEBSOCKET';
      journal.note({
        requestId,
        method,
        caller: request.caller.id,
        operation,
        operationName: name,
        status,
        ms,
      });
    }
    if (result instanceof RunningSubscription) return executing(schema, result);
    if (result.status === 200) return executing(schema, result.body);
    return (result.body.errors ?? []).map((error) => new Told(error));
  }

  /** @throws ProblemError if the key is no longer accepted; the connection is then closed. */
  private async callerOf(client: Client): Promise<Caller> {
    if (client.key === undefined) return client.caller;
    const caller = await this.options.keys.recognise(client.key.whole, client.key.address);
    if (caller) return caller;
    client.socket.close(CloseCode.Forbidden, WRONG_KEY);
    throw new ProblemError('UNAUTHENTICATED', WRONG_KEY);
  }
}

/** An error that is already formatted. */
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

/** The key in the parameters of `connection_init`: under a header's name in any case, or as `apiKey`. */
function keyIn(params: Params): string | undefined {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(params)) {
    if (typeof value === 'string') headers[name.toLowerCase()] = value;
  }
  return headers.apikey ?? presentedKey({ headers });
}
