import type { FastifyInstance } from 'fastify';
import type { DocumentNode } from 'graphql';
import { ProblemError } from '../../errors/errors';
import type { OperationRequest } from '../../graphql/context';
import type { Documents } from '../../graphql/documents';
import type { Executor } from '../../graphql/executor';
import { type Outcome, refusal, refuseDocument } from '../../graphql/outcome';
import { RunningSubscription } from '../../graphql/running-subscription';
import type { Keys } from '../caller';
import { readLiveRequest } from './live-request';
import { PerCaller } from './per-caller';

/** The response that rejects an operation, or the result of one whose document is valid. */
export type LiveResult =
  | { readonly result: Outcome; readonly document?: undefined; readonly operationName?: undefined }
  | {
      readonly result: RunningSubscription | Outcome;
      readonly document: DocumentNode;
      readonly operationName: string | null | undefined;
    };

export interface LiveOptions {
  readonly executor: Executor;
  readonly documents: Documents;
  readonly keys: Keys;
  /** Maximum number of running operations, and of connections, per caller over the subscription transports. */
  readonly maxPerCaller: number;
}

/** How often the keys of running subscriptions are checked. The key ring mostly answers from memory. */
const POLL_MS = 1000;

/**
 * Runs operations that come over the subscription transports: on the same executor as all others, with a limit per caller
 * on how many run at once. Ends subscriptions whose key is no longer accepted, and all of them on shutdown.
 */
export class LiveOperations {
  readonly connections: PerCaller;
  isClosing = false;
  private readonly operations: PerCaller;
  /** Running subscriptions, each with the key of its request. */
  private readonly running = new Map<RunningSubscription, string | undefined>();
  private readonly closeListeners: (() => void)[] = [];

  constructor(private readonly options: LiveOptions) {
    this.connections = new PerCaller(options.maxPerCaller);
    this.operations = new PerCaller(options.maxPerCaller);
  }

  get count(): number {
    return this.running.size;
  }

  /**
   * Runs an operation.
   * @param sent its parameters.
   * @param key the key that it came with.
   * @param isSafe whether it came by a safe method (GET), which must not change anything.
   * @throws ProblemError if the parameters are malformed.
   */
  async run(sent: unknown, request: OperationRequest, key: string | undefined, isSafe = false): Promise<LiveResult> {
    const { executor, documents } = this.options;
    const { query, operationName, variables } = readLiveRequest(sent, documents);
    if (this.isClosing) return { result: refusal(aboutToEnd(), { request }) };
    const release = this.operations.take(request.caller.id);
    if (!release) return { result: refusal(tooMany(this.operations.most), { request }) };
    let result: RunningSubscription | Outcome | undefined;
    try {
      if (!documents.has(query)) await documents.waitToRead(request.session.work);
      const document = documents.read(query);
      if (!('kind' in document)) return { result: refuseDocument(document, request) };
      const refused = documents.refuse(document, request.caller);
      if (refused) return { result: refuseDocument([refused], request) };
      const kind = executor.kindOf(document, operationName);
      if (kind === 'mutation' && isSafe) return { result: refusal(NOT_BY_GET, { request }) };
      if (kind === 'subscription') {
        result = await executor.subscribe(document, operationName, variables ?? {}, request, (ended) => {
          this.running.delete(ended);
          release();
        });
        if (result instanceof RunningSubscription) this.running.set(result, key);
      } else {
        result = await executor.run(document, operationName, variables ?? {}, request);
      }
      return { result, document, operationName };
    } finally {
      if (!(result instanceof RunningSubscription)) release();
    }
  }

  /** Checks running subscriptions until the server closes. */
  watch(app: FastifyInstance): void {
    const polling = setInterval(() => void this.endRevoked(), POLL_MS).unref();
    app.addHook('preClose', async () => {
      clearInterval(polling);
      this.close();
    });
  }

  /** @param disconnect how a transport disconnects its clients on shutdown, so that they reconnect to another instance. */
  onClose(disconnect: () => void): void {
    this.closeListeners.push(disconnect);
  }

  close(): void {
    if (this.isClosing) return;
    this.isClosing = true;
    for (const disconnect of this.closeListeners) disconnect();
  }

  private async endRevoked(): Promise<void> {
    for (const key of new Set(this.running.values())) {
      if (key === undefined || (await this.isAccepted(key))) continue;
      for (const [subscription, own] of this.running) {
        if (own === key) subscription.end(new ProblemError('UNAUTHENTICATED', this.options.keys.refusalOf(key)));
      }
    }
  }

  /** If the database is unavailable the key still counts as accepted: there are no events to leak then either. */
  private async isAccepted(key: string): Promise<boolean> {
    try {
      return (await this.options.keys.recognise(key)) !== undefined;
    } catch {
      return true;
    }
  }
}

const NOT_BY_GET = new ProblemError('METHOD_NOT_ALLOWED', 'GET cannot run mutations; send them by POST.');

export function aboutToEnd(): ProblemError {
  return new ProblemError('SERVICE_UNAVAILABLE', 'This instance is shutting down. Reconnect.');
}

export function tooMany(most: number): ProblemError {
  return new ProblemError('RATE_LIMITED', `At most ${most} live operations and connections are allowed at once.`);
}
