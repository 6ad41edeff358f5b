import { setImmediate as nextIteration } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { Deadline } from '../../database/deadline';
import { ProblemError } from '../../errors/errors';
import type { Caller, Scope } from '../../graphql/caller';
import type { OperationRequest, SentVariables } from '../../graphql/context';
import type { Documents } from '../../graphql/documents';
import type { Executor } from '../../graphql/executor';
import { rejectDocument, rejectOperation } from '../../graphql/outcome';
import { type LiveResult, RunningSubscription, type StartLive } from '../../graphql/subscriptions';
import { malformed, normalizeParameters } from '../graphql-parameters';
import { HeldByCaller, type Holder } from '../held-by-caller';
import { type Authenticator, KeyRejection } from '../identification';

interface LiveOptions {
  readonly executor: Executor;
  readonly documents: Documents;
  readonly authenticator: Authenticator;
  /** Time limit of a look-up of a key, in milliseconds. */
  readonly lookUpMs: number;
  /**
   * Maximum number of running operations per caller, over WebSocket and event streams together. It is also the maximum
   * number of WebSocket connections per caller.
   */
  readonly maxPerCaller: number;
}

/**
 * The API key or token with which a live operation was started, and the client's IP address as the id of a rate-limit subject
 * (`idOfAddress`).
 */
export interface Credential {
  readonly key: string;
  readonly address: string;
}

/** What was accepted at the start of a live operation. `credential` is `undefined` for an anonymous caller. */
interface Accepted {
  readonly credential: Credential | undefined;
  readonly scopes: Caller['scopes'];
}

/** Interval between checks of the keys of running subscriptions, in milliseconds. Most of these look-ups are cached. */
const POLL_MS = 1000;

/**
 * Runs operations that arrive over WebSockets and event streams, on the same executor as all other operations. Limits how
 * many live operations a caller may run concurrently. Ends subscriptions on shutdown, when their key is no longer accepted, or
 * when it has lost a scope.
 */
export class LiveOperations {
  readonly connections: LimitPerCaller;
  isClosing = false;
  private readonly operations: LimitPerCaller;
  /** Running subscriptions, each with the key and the scopes of its request. */
  private readonly running = new Map<RunningSubscription, Accepted>();
  private readonly closeListeners: (() => void)[] = [];

  constructor(private readonly options: LiveOptions) {
    this.connections = new LimitPerCaller(options.maxPerCaller);
    this.operations = new LimitPerCaller(options.maxPerCaller);
  }

  get count(): number {
    return this.running.size;
  }

  /**
   * Runs the operation of a GraphQL request.
   * @param sent the operation's parameters, as in the body of a POST request.
   * @param credential the API key or token that the client sent with the operation.
   * @throws ProblemError if the parameters are malformed.
   */
  async runRequest(
    sent: unknown,
    operationRequest: OperationRequest,
    credential: Credential | undefined,
  ): Promise<LiveResult> {
    const { executor, documents } = this.options;
    const { query, operationName, variables } = readParameters(sent, documents);
    return this.startLimited(operationRequest, credential, async (onEnd) => {
      if (!documents.has(query))
        await documents.admitUnknown(query, operationRequest.session.requester, operationRequest.meter);
      const isLarge = documents.isLargeAndUnknown(query);
      const document = documents.read(query);
      if (isLarge) await nextIteration();
      if (!('kind' in document)) return rejectDocument(document, operationRequest);
      const rejection = documents.rejectionOf(document, operationRequest.caller);
      if (rejection) return rejectDocument([rejection], operationRequest);
      return executor.kindOf(document, operationName) === 'subscription'
        ? executor.subscribe(document, operationName, variables ?? {}, operationRequest, onEnd)
        : executor.run(document, operationName, variables ?? {}, operationRequest);
    });
  }

  /** Starts an operation within the limits, and ends it if it keeps running. Errors of `start` reject the promise. */
  async startLimited(
    operationRequest: OperationRequest,
    credential: Credential | undefined,
    start: StartLive,
  ): Promise<LiveResult> {
    if (this.isClosing) return rejectOperation(shuttingDown(), { operationRequest });
    const uncount = this.operations.count(operationRequest.caller);
    if (!uncount) return rejectOperation(tooMany(this.operations.most), { operationRequest });
    let result: LiveResult | undefined;
    try {
      result = await start((ended) => {
        this.running.delete(ended);
        uncount();
      });
      const { scopes } = operationRequest.caller;
      if (result instanceof RunningSubscription) this.running.set(result, { credential, scopes });
      return result;
    } finally {
      if (!(result instanceof RunningSubscription)) uncount();
    }
  }

  /** Checks the keys of running subscriptions every second, until the server closes. */
  watch(app: FastifyInstance): void {
    const polling = setInterval(() => this.checkKeys(), POLL_MS).unref();
    app.addHook('preClose', async () => {
      clearInterval(polling);
      this.close();
    });
  }

  /**
   * @param disconnect is called on shutdown, and disconnects all clients of a transport, so that they reconnect to another
   * instance.
   */
  onClose(disconnect: () => void): void {
    this.closeListeners.push(disconnect);
  }

  close(): void {
    if (this.isClosing) return;
    this.isClosing = true;
    for (const disconnect of this.closeListeners) disconnect();
  }

  private checkKeys(): void {
    const byKey = new Map<string, { readonly address: string; readonly subscriptions: RunningSubscription[] }>();
    for (const [subscription, { credential }] of this.running) {
      if (!credential) continue;
      const { key, address } = credential;
      const known = byKey.get(key);
      if (known) known.subscriptions.push(subscription);
      else byKey.set(key, { address, subscriptions: [subscription] });
    }
    for (const [key, { address, subscriptions }] of byKey) void this.check(key, address, subscriptions);
  }

  /**
   * Ends the subscriptions of a key that is no longer accepted or has lost a scope. While the key is being looked up, and if it
   * cannot be looked up, the events of its subscriptions wait.
   */
  private async check(key: string, address: string, subscriptions: readonly RunningSubscription[]): Promise<void> {
    const { authenticator, lookUpMs } = this.options;
    let caller: Caller | KeyRejection;
    try {
      const answer = authenticator.authenticate(key, { address, deadline: new Deadline(lookUpMs) });
      if (answer instanceof Promise) for (const each of subscriptions) each.pause();
      caller = await answer;
    } catch {
      return;
    }
    for (const each of subscriptions) {
      const reason = reasonToEnd(caller, this.running.get(each)?.scopes ?? []);
      if (reason) each.end(reason);
      else each.resume();
    }
  }
}

/** Why a live operation that was started with these scopes must end. */
function reasonToEnd(caller: Caller | KeyRejection, scopes: Iterable<Scope>): ProblemError | undefined {
  if (caller instanceof KeyRejection) return new ProblemError('UNAUTHENTICATED', caller.reason);
  const lost = [...scopes].filter((scope) => !caller.scopes.has(scope));
  return lost.length ? new ProblemError('FORBIDDEN', `The key no longer has the scope ${lost.join(', ')}.`) : undefined;
}

/** Limits the number of open connections, or of running operations, per caller. */
export class LimitPerCaller {
  private readonly counted = new HeldByCaller();

  constructor(readonly most: number) {}

  /**
   * Counts one more connection or operation.
   * @returns a function that ends this count (further calls do nothing); `undefined` if the caller is at its limit.
   */
  count(caller: Holder): (() => void) | undefined {
    if (this.counted.of(caller) >= this.most) return undefined;
    this.counted.add(caller, 1);
    let isCounted = true;
    return () => {
      if (!isCounted) return;
      isCounted = false;
      this.counted.add(caller, -1);
    };
  }
}

export function shuttingDown(): ProblemError {
  return new ProblemError('SERVICE_UNAVAILABLE', 'This instance is shutting down. Reconnect.');
}

/**
 * `Retry-After` in seconds for a caller with too many live operations or connections. It is a guess, since they may last for
 * any time.
 */
const RETRY_AFTER = 5;

export function tooMany(most: number): ProblemError {
  const message = `At most ${most} live operations and ${most} WebSocket connections are allowed at once.`;
  return new ProblemError('RATE_LIMITED', message, undefined, undefined, RETRY_AFTER);
}

/** @throws ProblemError if the parameters are malformed. */
function readParameters(sent: unknown, documents: Documents) {
  if (Array.isArray(sent)) throw malformed('batched operations are not supported');
  const given = typeof sent === 'object' && sent !== null ? { ...sent } : {};
  const { query, operationName, variables } = normalizeParameters(given, documents);
  if (typeof query !== 'string') throw malformed('query must be a string, the text of a document');
  if (operationName != null && typeof operationName !== 'string') throw malformed('operationName must be a string');
  if (variables != null && (typeof variables !== 'object' || Array.isArray(variables)))
    throw malformed('variables must be a JSON object');
  return { query, operationName, variables: variables as SentVariables | null | undefined };
}
