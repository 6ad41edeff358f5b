import { createHash } from 'node:crypto';
import {
  createSourceEventStream,
  type DocumentNode,
  type ExecutionResult,
  execute,
  GraphQLError,
  type GraphQLSchema,
  type OperationTypeNode,
  print,
} from 'graphql';
import type { Session } from '../database/database';
import type { Deadline } from '../database/deadline';
import type { Nested } from '../database/reading/selection';
import type { Visibility } from '../database/visibility';
import { OperationRejection, ProblemError } from '../errors/errors';
import { TooSlow } from '../events/event-queue';
import { type Admitted, type Analysed, admit, analyse } from './admission';
import { visibilityOf } from './caller';
import { Context, type OperationRequest, type Variables } from './context';
import type { CostLimits } from './cost';
import { EventResults } from './event-results';
import { IdempotentMutations } from './idempotency';
import { IntrospectionAnswers } from './introspection-answers';
import { nestedPages, type Rewritten, schemaWithLeaves, type Tables } from './leaves';
import { type Operation, OperationCache } from './operation';
import type { OperationQueue, Release } from './operation-queue';
import { bounded, type Outcome, outcomeOf, rejectOperation, responseBody } from './outcome';
import { RunningSubscription } from './running-subscription';
import { Uses } from './uses';

/** Where subscriptions are served. */
export const SUBSCRIPTIONS =
  'Subscriptions are served over WebSocket (graphql-transport-ws) at /graphql, and as server-sent events at /graphql/stream.';

/** One instance for all requests, since a stack trace is expensive. */
const NEEDS_STREAM = new ProblemError('BAD_REQUEST', SUBSCRIPTIONS);
const NOT_BY_GET = new ProblemError('METHOD_NOT_ALLOWED', 'GET cannot run mutations. Send mutations with POST.');

export interface ExecutorOptions {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  readonly costs: CostLimits;
  readonly queue: OperationQueue;
  /** Returns a session in which the response to an event is computed, and which sees these rows. */
  openEventSession(visibility: Visibility): Session;
  /** How long the response to an event may wait until it is computed, in milliseconds. */
  readonly eventWaitMs: number;
  /** The tables whose rows can be read as JSON, by the name of their GraphQL type. */
  readonly tables: Tables;
  /** Maximum size of a response, and of an event of a subscription, in bytes. */
  readonly maxResponseBytes: number;
}

/**
 * Runs validated documents with graphql-js. All operations of GraphQL and REST reach the resolvers through this class.
 * Access is checked before anything runs. `@rateLimit` charges the whole operation before its first counted field runs.
 */
export class Executor {
  /** Counts the uses of deprecated and unstable elements. */
  readonly uses = new Uses();
  private readonly operations: OperationCache;
  private readonly schemaWithLeaves: GraphQLSchema;
  private readonly eventResults: EventResults<ExecutionResult>;
  private readonly idempotent: IdempotentMutations;
  private readonly introspection = new IntrospectionAnswers();

  constructor(
    readonly schema: GraphQLSchema,
    private readonly options: ExecutorOptions,
  ) {
    this.schemaWithLeaves = schemaWithLeaves(schema, options.tables);
    this.operations = new OperationCache(schema, options.tables);
    this.idempotent = new IdempotentMutations(options.now);
    this.eventResults = new EventResults(options.openEventSession, options.eventWaitMs);
  }

  run(
    document: DocumentNode,
    operationName: string | null | undefined,
    variables: Variables,
    request: OperationRequest,
  ): Promise<Outcome> {
    const operation = this.operations.find(document, operationName);
    return operation ? this.perform(operation, variables, request) : this.rejectName(operationName, request);
  }

  /**
   * Starts a subscription. The subscription is checked and charged once, not for each event.
   * @param onOver called when a started subscription ends.
   * @returns the subscription, or the response that rejects it.
   */
  async subscribe(
    document: DocumentNode,
    operationName: string | null | undefined,
    sent: Variables,
    request: OperationRequest,
    onOver: (ended: RunningSubscription) => void,
  ): Promise<RunningSubscription | Outcome> {
    const operation = this.operations.find(document, operationName);
    if (!operation) return this.rejectName(operationName, request);
    const analysed = this.analyse(operation, sent, request);
    let admitted: Admitted;
    try {
      admitted = admit(analysed, sent, this.options.costs);
    } catch (problem) {
      return rejected(problem, analysed);
    }
    const { analysis } = admitted;
    const context = new Context(request, analysis, request.session);
    const source = await createSourceEventStream({
      schema: this.schema,
      document,
      operationName: operation.name,
      variableValues: sent,
      contextValue: context,
    });
    if (!(Symbol.asyncIterator in source)) return rejectOperation(source.errors?.[0], admitted);
    const events = source[Symbol.asyncIterator]() as AsyncIterator<object>;
    const { reason } = request.session.requester.deadline;
    if (reason) {
      // The client has left, or has got an error because the start took too long. It would never end the subscription.
      await events.return?.();
      return rejectOperation(reason, admitted);
    }
    const { id: callerId, address } = request.caller;
    const work = {
      key: resultKeyOf(admitted, sent),
      callerId,
      visibility: visibilityOf(request.caller),
      enter: (deadline: Deadline) => this.options.queue.enterEvent({ callerId, address, deadline }, admitted.cost),
    };
    const respondTo = (event: object) => {
      const { result, leave } = this.eventResults.find(event, {
        ...work,
        compute: ({ session, loaders }) =>
          this.executeEvent(admitted, sent, new Context(request, analysis, session, undefined, loaders), event),
      });
      const onProblem = (problem: unknown) => {
        if (problem instanceof TooSlow) throw problem;
        return rejectOperation(problem, admitted).body;
      };
      return { result: result.then((found) => responseBody(found, admitted), onProblem), leave };
    };
    return new RunningSubscription(events, respondTo, admitted, onOver);
  }

  /** The kind of an operation; `undefined` if the document has no operation with this name. */
  kindOf(document: DocumentNode, operationName: string | null | undefined): OperationTypeNode | undefined {
    return this.operations.find(document, operationName)?.kind;
  }

  private async perform(operation: Operation, sent: Variables, request: OperationRequest): Promise<Outcome> {
    const { kind } = operation;
    const isIdempotent = kind === 'mutation' && request.idempotency !== undefined;
    const analysed = this.analyse(operation, sent, request);
    if (kind === 'mutation' && request.isSafe) return rejectOperation(NOT_BY_GET, analysed);
    let admitted: Admitted;
    try {
      admitted = admit(analysed, sent, this.options.costs);
    } catch (problem) {
      const outcome = rejected(problem, analysed);
      return isIdempotent ? { ...outcome, replayed: false } : outcome;
    }
    if (kind === 'subscription') return rejectOperation(NEEDS_STREAM, admitted);
    let release: Release;
    try {
      const entered = this.enter(admitted);
      release = entered instanceof Promise ? await entered : entered;
    } catch (problem) {
      await request.meter.waive();
      return rejectOperation(problem, admitted);
    }
    try {
      return await (isIdempotent ? this.executeIdempotently(admitted, sent) : this.execute(admitted, sent));
    } finally {
      release();
    }
  }

  /** Waits until the operation may start. */
  private enter({ request, analysis, cost }: Admitted): Release | Promise<Release> {
    const { queue } = this.options;
    const { requester } = request.session;
    if (analysis.countedFields > 0) return queue.enter(requester, cost);
    return queue.enterFree(requester, this.introspection.find(analysis) ? 0 : cost);
  }

  private async execute(admitted: Admitted, sent: Variables): Promise<Outcome> {
    const { request, analysis } = admitted;
    try {
      // `@rateLimit` does not charge an operation without counted fields. The operation is charged here, since it counts
      // towards the limit on free requests.
      if (analysis.countedFields === 0) await request.meter.chargeOrThrow(0);
      const result = this.introspection.find(analysis) ?? (await this.executeIn(request.session, admitted, sent));
      this.introspection.keep(analysis, result);
      // After an error, other fields may still be running. Their results are not needed, so their statements are cancelled.
      if (result.errors) request.session.requester.deadline.end();
      const rejection =
        request.meter.chargeError ??
        result.errors?.find(({ originalError }) => originalError instanceof OperationRejection);
      return rejection ? rejectOperation(rejection, admitted) : outcomeOf(result, admitted);
    } catch (problem) {
      return rejectOperation(problem, admitted);
    }
  }

  private executeIdempotently(admitted: Admitted, sent: Variables): Promise<Outcome> {
    return this.idempotent.run(admitted, (transaction) => this.executeIn(transaction, admitted, sent));
  }

  /**
   * Executes the operation with its plain root fields replaced by leaves (leaves.ts). The operation runs without leaves if
   * no index provides the sort order of a nested page, or if arguments inside a leaf are invalid. Only resolvers
   * report invalid arguments with exact paths.
   * @throws ProblemError `OPERATION_TOO_COMPLEX` if the response would be too large.
   */
  private async executeIn(
    session: Session,
    { request, analysis, operation, variables }: Admitted,
    sent: Variables,
  ): Promise<ExecutionResult> {
    const leaves = analysis.withLeaves(request.api.json);
    const nested = leaves?.pages.length ? nestedOf(leaves.pages, variables) : undefined;
    const hasLeaves = leaves && (nested || !leaves.pages.length);
    const result = await execute({
      schema: hasLeaves ? this.schemaWithLeaves : this.schema,
      document: hasLeaves ? leaves.document : operation.document,
      operationName: operation.name,
      variableValues: sent,
      contextValue: new Context(request, analysis, session, nested),
    });
    const { kind } = operation;
    // If the response is too large, a mutation with an idempotency key is rolled back, but other mutations are not.
    const keepsChanges = kind === 'mutation' && !request.idempotency;
    return bounded(result, this.options.maxResponseBytes, keepsChanges);
  }

  private async executeEvent({ operation }: Admitted, sent: Variables, context: Context, event: object) {
    const result = await execute({
      schema: this.schema,
      document: operation.document,
      operationName: operation.name,
      variableValues: sent,
      contextValue: context,
      rootValue: event,
    });
    return bounded(result, this.options.maxResponseBytes, false);
  }

  private analyse(operation: Operation, sent: Variables, request: OperationRequest): Analysed {
    request.observer.onOperation(operation);
    const analysed = analyse(operation, sent, request);
    if (analysed.analysis) this.uses.countAll(analysed.analysis.unstable, request.api.name);
    return analysed;
  }

  private async rejectName(name: string | null | undefined, request: OperationRequest): Promise<Outcome> {
    const message = name
      ? `The document has no operation named "${name}".`
      : 'The document has more than one operation: operationName must say which to run.';
    return rejectOperation(new ProblemError('GRAPHQL_VALIDATION_FAILED', message), { request });
  }
}

/** The response to an operation that was not admitted. @throws errors other than rejections. */
function rejected(problem: unknown, analysed: Analysed): Outcome {
  if (problem instanceof ProblemError) return rejectOperation(problem, analysed);
  throw problem;
}

/**
 * Identifies the response to an event. Subscribers with the same document, operation name, variables, scopes and visible
 * rows share one response.
 */
function resultKeyOf({ operation, request }: Admitted, sent: Variables): string {
  const { document, name } = operation;
  const { caller } = request;
  const parts = [document.loc?.source.body ?? print(document), name, sent, [...caller.scopes], visibilityOf(caller)];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64');
}

/** @returns `undefined` if arguments are invalid, or if no index provides the sort order of a page. */
function nestedOf(pages: Rewritten['pages'], variables: Variables): Nested | undefined {
  try {
    return nestedPages(pages, variables);
  } catch (error) {
    if (error instanceof ProblemError || error instanceof GraphQLError) return undefined;
    throw error;
  }
}
