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
import type { Change, Session } from '../database/database';
import type { Deadline } from '../database/deadline';
import type { Nested } from '../database/reading/selection';
import type { Visibility } from '../database/visibility';
import { OperationRejection, ProblemError } from '../errors/errors';
import { TooSlow } from '../events/hub';
import { type AdmittedOperation, type AnalysedOperation, admit, analyseOperation } from './admission';
import { visibilityOf } from './caller';
import { type CoercedVariables, Context, DeletedMeanwhile, type OperationRequest, type SentVariables } from './context';
import type { CostLimits } from './cost';
import { IdempotentMutations } from './idempotency';
import { IntrospectionAnswers } from './introspection-answers';
import { nestedPages, type Rewritten, schemaWithLeaves, type Tables } from './leaves';
import { MarkedElementUses } from './marked-element-uses';
import { type Operation, OperationCache } from './operation';
import type { OperationQueue, Release } from './operation-queue';
import { limitSize, type Outcome, outcomeOf, rejectOperation, responseBody } from './outcome';
import { EventResults, RunningSubscription } from './subscriptions';

/** Where subscriptions are served. */
export const SUBSCRIPTIONS =
  'Subscriptions are served over WebSocket (graphql-transport-ws) at /graphql, and as server-sent events at /graphql/stream.';

/** One instance for all requests, since a stack trace is expensive. */
const NEEDS_STREAM = new ProblemError('BAD_REQUEST', SUBSCRIPTIONS);
const NOT_BY_GET = new ProblemError('METHOD_NOT_ALLOWED', 'GET cannot run mutations. Send mutations with POST.');

interface ExecutorOptions {
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
  readonly uses = new MarkedElementUses();
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

  /** Runs a query or mutation. */
  async run(
    document: DocumentNode,
    operationName: string | null | undefined,
    variables: SentVariables,
    operationRequest: OperationRequest,
  ): Promise<Outcome> {
    const operation = this.operations.find(document, operationName);
    if (!operation) return rejectName(operationName, operationRequest);
    const { kind } = operation;
    const isIdempotent = kind === 'mutation' && operationRequest.idempotency !== undefined;
    const analysed = this.recordAndAnalyse(operation, variables, operationRequest);
    if (kind === 'mutation' && operationRequest.isSafe) return rejectOperation(NOT_BY_GET, analysed);
    let admitted: AdmittedOperation;
    try {
      admitted = admit(analysed, this.options.costs);
    } catch (problem) {
      const outcome = rejectNotAdmitted(problem, analysed);
      return isIdempotent ? { ...outcome, replayed: false } : outcome;
    }
    if (kind === 'subscription') return rejectOperation(NEEDS_STREAM, admitted);
    let release: Release;
    try {
      const entered = this.enterQueue(admitted);
      release = entered instanceof Promise ? await entered : entered;
    } catch (problem) {
      await operationRequest.meter.waive();
      return rejectOperation(problem, admitted);
    }
    try {
      if (!isIdempotent) return await this.execute(admitted);
      return await this.idempotent.run(admitted, (transaction) => this.executeIn(transaction, admitted));
    } finally {
      release();
    }
  }

  /**
   * Starts a subscription. The subscription is checked and charged once, not for each event.
   * @param onEnd called when a started subscription ends.
   * @returns the subscription, or the response that rejects it.
   */
  async subscribe(
    document: DocumentNode,
    operationName: string | null | undefined,
    variables: SentVariables,
    operationRequest: OperationRequest,
    onEnd: (ended: RunningSubscription) => void,
  ): Promise<RunningSubscription | Outcome> {
    const operation = this.operations.find(document, operationName);
    if (!operation) return rejectName(operationName, operationRequest);
    const analysed = this.recordAndAnalyse(operation, variables, operationRequest);
    let admitted: AdmittedOperation;
    try {
      admitted = admit(analysed, this.options.costs);
    } catch (problem) {
      return rejectNotAdmitted(problem, analysed);
    }
    const { analysis } = admitted;
    const { session, caller } = operationRequest;
    const context = new Context(operationRequest, analysis, session);
    const source = await createSourceEventStream({
      schema: this.schema,
      document,
      operationName: operation.name,
      variableValues: admitted.sentVariables,
      contextValue: context,
    });
    if (!(Symbol.asyncIterator in source)) return rejectOperation(source.errors?.[0], admitted);
    const events = source[Symbol.asyncIterator]() as AsyncIterator<object>;
    const { reason } = session.requester.deadline;
    if (reason) {
      // The client has disconnected, or has got an error because the start took too long. The client would never end the
      // subscription.
      await events.return?.();
      return rejectOperation(reason, admitted);
    }
    const { id: callerId, address } = caller;
    const work = {
      key: resultKeyOf(admitted),
      callerId,
      visibility: visibilityOf(caller),
      waitToCompute: (deadline: Deadline) =>
        this.options.queue.enterEvent({ callerId, address, deadline }, admitted.cost),
    };
    const respondTo = (event: object) => {
      const { result, leave } = this.eventResults.resultFor(event, {
        ...work,
        // The deadline of `operationRequest` covers only the start, and subscribers of other callers may share the result. So
        // resolvers of events must read through the session and the loaders of their context.
        compute: ({ session, loaders }) =>
          this.executeEvent(admitted, new Context(operationRequest, analysis, session, undefined, loaders), event),
      });
      const onProblem = (problem: unknown) => {
        if (problem instanceof TooSlow) throw problem;
        return rejectOperation(problem, admitted).body;
      };
      const bodyOf = (found: ExecutionResult) => (isStale(event, found) ? undefined : responseBody(found, admitted));
      return { result: result.then(bodyOf, onProblem), leave };
    };
    return new RunningSubscription(events, respondTo, admitted, onEnd);
  }

  /** The kind of an operation; `undefined` if the document has no operation with this name. */
  kindOf(document: DocumentNode, operationName: string | null | undefined): OperationTypeNode | undefined {
    return this.operations.find(document, operationName)?.kind;
  }

  /** Waits until the operation may start. @returns a promise if it must wait. */
  private enterQueue({ operationRequest, analysis, cost }: AdmittedOperation): Release | Promise<Release> {
    const { queue } = this.options;
    const { requester } = operationRequest.session;
    if (operationRequest.isContinuation) return queue.enterEvent(requester, cost);
    if (analysis.countedFields > 0) return queue.enterCounted(requester, cost);
    return queue.enterFree(requester, this.introspection.find(analysis) ? 0 : cost);
  }

  private async execute(admitted: AdmittedOperation): Promise<Outcome> {
    const { operationRequest, analysis } = admitted;
    const { session, meter } = operationRequest;
    try {
      // `@rateLimit` does not charge an operation without counted fields. The operation is charged here, since it counts
      // towards the limit on free requests.
      if (analysis.countedFields === 0) await meter.chargeOrThrow(0);
      const known = this.introspection.find(analysis);
      const result = known ?? (await this.executeIn(session, admitted));
      if (analysis.isIntrospection && !known) this.introspection.keep(analysis, result);
      // After an error, other fields may still be running. Their results are not needed, so their statements are cancelled.
      if (result.errors) session.requester.deadline.end();
      const rejection =
        meter.chargeError ?? result.errors?.find(({ originalError }) => originalError instanceof OperationRejection);
      return rejection ? rejectOperation(rejection, admitted) : outcomeOf(result, admitted);
    } catch (problem) {
      return rejectOperation(problem, admitted);
    }
  }

  /**
   * Executes the operation with its plain root fields replaced by leaves (leaves.ts). The operation runs without leaves if
   * no index provides the sort order of a nested page, or if arguments inside a leaf are invalid. Only resolvers
   * report invalid arguments with exact paths.
   * @throws ProblemError `OPERATION_TOO_COMPLEX` if the response would be too large.
   */
  private async executeIn(
    session: Session,
    { operationRequest, operation, sentVariables, variables, analysis }: AdmittedOperation,
  ): Promise<ExecutionResult> {
    const rewritten = analysis.withLeaves(operationRequest.api.json);
    const nested = rewritten?.pages.length ? nestedOf(rewritten.pages, variables) : undefined;
    const hasLeaves = rewritten && (nested || !rewritten.pages.length);
    const leaves = hasLeaves ? { byKey: rewritten.leaves, nested } : undefined;
    const result = await execute({
      schema: hasLeaves ? this.schemaWithLeaves : this.schema,
      document: hasLeaves ? rewritten.document : operation.document,
      operationName: operation.name,
      variableValues: sentVariables,
      contextValue: new Context(operationRequest, analysis, session, leaves),
    });
    const { kind } = operation;
    // If the response is too large, a mutation with an idempotency key is rolled back, but other mutations are not.
    const keepsChanges = kind === 'mutation' && !operationRequest.idempotency;
    return limitSize(result, this.options.maxResponseBytes, keepsChanges);
  }

  private async executeEvent({ operation, sentVariables }: AdmittedOperation, context: Context, event: object) {
    const result = await execute({
      schema: this.schema,
      document: operation.document,
      operationName: operation.name,
      variableValues: sentVariables,
      contextValue: context,
      rootValue: event,
    });
    return limitSize(result, this.options.maxResponseBytes, false);
  }

  /** Records the operation for the log, and the uses of unstable elements for the metrics. @returns its analysis. */
  private recordAndAnalyse(
    operation: Operation,
    variables: SentVariables,
    operationRequest: OperationRequest,
  ): AnalysedOperation {
    operationRequest.observer.onOperation(operation);
    const analysed = analyseOperation(operation, variables, operationRequest);
    if (analysed.analysis && !operationRequest.isContinuation)
      this.uses.countAll(analysed.analysis.unstable, operationRequest.api.name);
    return analysed;
  }
}

/**
 * Whether a row that the event's row refers to has been deleted after the event. The event's row was then deleted too, and its
 * deletion is a separate event.
 */
function isStale(event: Partial<Change>, { errors }: ExecutionResult): boolean {
  if (event.kind === 'DELETED') return false;
  return errors?.some(({ originalError }) => originalError instanceof DeletedMeanwhile) ?? false;
}

function rejectName(name: string | null | undefined, operationRequest: OperationRequest): Outcome {
  const message = name
    ? `The document has no operation named "${name}".`
    : 'The document has more than one operation: operationName must say which to run.';
  return rejectOperation(new ProblemError('GRAPHQL_VALIDATION_FAILED', message), { operationRequest });
}

/** The response to an operation that was not admitted. @throws errors other than rejections. */
function rejectNotAdmitted(problem: unknown, analysed: AnalysedOperation): Outcome {
  if (problem instanceof ProblemError) return rejectOperation(problem, analysed);
  throw problem;
}

/**
 * Identifies the response to an event. Subscribers with the same document, operation name, variables, scopes and visible
 * rows share one response.
 */
function resultKeyOf({ operation, operationRequest, sentVariables }: AdmittedOperation): string {
  const { document, name } = operation;
  const { caller } = operationRequest;
  const text = document.loc?.source.body ?? print(document);
  const parts = [text, name, sentVariables, [...caller.scopes], visibilityOf(caller)];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64');
}

/** @returns `undefined` if arguments are invalid, or if no index provides the sort order of a page. */
function nestedOf(pages: Rewritten['pages'], variables: CoercedVariables): Nested | undefined {
  try {
    return nestedPages(pages, variables);
  } catch (error) {
    if (error instanceof ProblemError || error instanceof GraphQLError) return undefined;
    throw error;
  }
}
