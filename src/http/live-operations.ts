import type { FastifyInstance } from 'fastify';
import type { KeyRing } from '../access/key-ring';
import type { Context } from '../graphql/context';
import type { DocumentLimits } from '../graphql/document-limits';
import { ProblemError } from '../graphql/errors';
import type { Executor, OperationRunner } from '../graphql/executor';
import type { KnownDocuments } from '../graphql/known-documents';
import { type Outcome, refusal, refuseDocument } from '../graphql/outcome';
import { readDocument } from '../graphql/read-document';
import { RunningSubscription } from '../graphql/running-subscription';
import type { Variables } from '../graphql/variables';
import { PerCaller } from './per-caller';
import { type PresentedKey, WRONG_KEY } from './presented-key';

/** An operation as the transports of subscriptions receive it. */
export interface LiveRequest {
  readonly query: string;
  readonly operationName?: string | null;
  readonly variables?: Variables | null;
  /** Whether it came in a way that must change nothing (GET). */
  readonly isSafe?: boolean;
}

export interface LiveOptions {
  /** Runs subscriptions. */
  readonly executor: Executor;
  /** Runs everything else. */
  readonly runner: OperationRunner;
  readonly documents: KnownDocuments;
  readonly documentLimits: DocumentLimits;
  readonly keys: KeyRing;
  /** How many operations one caller may have running over the transports of subscriptions, and how many connections. */
  readonly maxPerCaller: number;
}

/** How often keys of running subscriptions are looked at. The key ring answers from memory most of the time. */
const LOOK_MS = 1000;

/**
 * Runs what comes over the transports of subscriptions: as the executor does for all others, and for each caller only so
 * many at once. It ends subscriptions whose key is no longer accepted, and all of them when the process is about to end.
 */
export class LiveOperations {
  readonly connections: PerCaller;
  isClosing = false;
  private readonly operations: PerCaller;
  /** Those that run, with the key that they were asked for with. */
  private readonly running = new Map<RunningSubscription, PresentedKey | undefined>();
  private readonly goodbyes: (() => void)[] = [];

  constructor(private readonly options: LiveOptions) {
    this.connections = new PerCaller(options.maxPerCaller);
    this.operations = new PerCaller(options.maxPerCaller);
  }

  /** How many subscriptions run. */
  get count(): number {
    return this.running.size;
  }

  /**
   * Runs an operation.
   * @param key what it came with.
   */
  async run(
    { query, operationName, variables, isSafe }: LiveRequest,
    context: Context,
    key: PresentedKey | undefined,
  ): Promise<RunningSubscription | Outcome> {
    if (this.isClosing) return refusal(aboutToEnd(), context);
    const release = this.operations.take(context.caller.id);
    if (!release) return refusal(tooMany(this.operations.most), context);
    let result: RunningSubscription | Outcome | undefined;
    try {
      const { executor, runner, documents, documentLimits } = this.options;
      const { schema } = executor;
      const document = readDocument(schema, documents, query, documentLimits, context);
      if (!('kind' in document)) return refuseDocument(document, context);
      const kind = executor.kindOf(document, operationName);
      if (kind === 'mutation' && isSafe) return refusal(notByGet(), context);
      if (kind !== 'subscription') return await runner.run(document, operationName, variables ?? {}, context);
      result = await executor.subscribe(document, operationName, variables ?? {}, context, (ended) => {
        this.running.delete(ended);
        release();
      });
      if (result instanceof RunningSubscription) this.running.set(result, key);
      return result;
    } finally {
      if (!(result instanceof RunningSubscription)) release();
    }
  }

  /** Watches over those that run, for as long as the server does. */
  watch(app: FastifyInstance): void {
    const looking = setInterval(() => void this.endRevoked(), LOOK_MS).unref();
    app.addHook('preClose', async () => {
      clearInterval(looking);
      this.close();
    });
  }

  /** @param goodbye how a transport takes leave of its clients, so that they come back to another instance. */
  onClose(goodbye: () => void): void {
    this.goodbyes.push(goodbye);
  }

  close(): void {
    if (this.isClosing) return;
    this.isClosing = true;
    for (const goodbye of this.goodbyes) goodbye();
  }

  private async endRevoked(): Promise<void> {
    const keys = new Map<string, PresentedKey>();
    for (const key of this.running.values()) if (key) keys.set(key.whole, key);
    for (const key of keys.values()) {
      if (await this.isAccepted(key)) continue;
      for (const [subscription, own] of this.running) {
        if (own?.whole === key.whole) subscription.end(new ProblemError('UNAUTHENTICATED', WRONG_KEY));
      }
    }
  }

  /** Without the database nobody can tell, and there is nothing to hear of either. */
  private async isAccepted({ whole, address }: PresentedKey): Promise<boolean> {
    try {
      return (await this.options.keys.recognise(whole, address)) !== undefined;
    } catch {
      return true;
    }
  }
}

function notByGet(): ProblemError {
  return new ProblemError('METHOD_NOT_ALLOWED', 'GET changes nothing; mutations are sent by POST.');
}

export function aboutToEnd(): ProblemError {
  return new ProblemError('SERVICE_UNAVAILABLE', 'This instance is about to end. Connect again.');
}

export function tooMany(most: number): ProblemError {
  return new ProblemError(
    'RATE_LIMITED',
    `Only ${most} live operations and connections at once are allowed.`,
  );
}
