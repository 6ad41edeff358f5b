import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  type GraphQLSchema,
  type OperationTypeNode,
  subscribe,
} from 'graphql';
import type { Caller } from '../access/caller';
import { failedSession } from '../database/failed-session';
import { failureOf } from '../database/failures';
import { badInput } from '../domain/errors';
import { isTooExpensive } from '../rate-limit/rules';
import type { Context } from './context';
import { type CostLimits, mostOf } from './cost';
import { ProblemError } from './errors';
import { estimateAt } from './estimate';
import type { Lifecycle } from './lifecycle';
import { Charge, refusalOf } from './limits';
import { type Demand, type Operation, Operations } from './operation';
import { bodyOf, type Outcome, refusal } from './outcome';
import { RunOnce } from './run-once';
import { RunningSubscription } from './running-subscription';
import { refuseScope } from './scope-check';
import { Uses } from './uses';
import { variableErrors } from './variable-errors';
import type { Variables } from './variables';

/** Runs operations: the executor, or a decorator around it. */
export type OperationRunner = Pick<Executor, 'schema' | 'prepareForRest' | 'run'>;

/**
 * Runs validated documents against the schema: the only path to the resolvers, for both GraphQL and REST.
 * Access is checked and the whole operation is charged before any of its root fields runs.
 */
export class Executor {
  /** How often deprecated and unstable elements were used. */
  readonly uses = new Uses();
  private readonly operations: Operations;
  private readonly once: RunOnce;

  /** @param now milliseconds of the Unix epoch. */
  constructor(
    readonly schema: GraphQLSchema,
    now: () => number,
    private readonly costs: CostLimits,
  ) {
    this.operations = new Operations(schema);
    this.once = new RunOnce(now);
  }

  /** Marks a prepared document as REST's, so that its rows may be serialized as REST's JSON. */
  prepareForRest(document: DocumentNode): void {
    this.operations.spell(document, 'rest');
  }

  async run(
    document: DocumentNode,
    operationName: string | null | undefined,
    variables: Variables,
    context: Context,
  ): Promise<Outcome> {
    const admitted = this.admit(document, operationName, variables, context);
    if ('status' in admitted) return admitted;
    const { operation, demand } = admitted;
    if (operation.node.operation === 'subscription') return refusal(needsStream(), context);

    const coerced = operation.coerce(variables);
    const runsOnce = context.idempotency !== undefined && operation.node.operation === 'mutation';
    if (!coerced) {
      const refused = this.refuseVariables(operation, variables, context);
      return runsOnce ? { ...refused, replayed: false } : refused;
    }
    context.charge = new Charge(context.meter, demand.cost);
    if (runsOnce)
      return this.once.run({ operation, coerced, demand }, context, (shared) =>
        this.execute(operation, variables, coerced, shared),
      );
    const taken = context.meter.take(demand.cost);
    const refused = refusalOf(taken instanceof Promise ? await taken : taken);
    if (refused) return refusal(refused, context);
    const result = await this.execute(operation, variables, coerced, context);
    return { status: 200, body: bodyOf(result, context, demand.cost) };
  }

  /**
   * Starts a subscription. It is checked and charged once, not for each event.
   * @param onOver called when it ends, if it started.
   * @returns the subscription, or the response that refuses it.
   */
  async subscribe(
    document: DocumentNode,
    operationName: string | null | undefined,
    variables: Variables,
    context: Context,
    onOver: (ended: RunningSubscription) => void,
  ): Promise<RunningSubscription | Outcome> {
    const admitted = this.admit(document, operationName, variables, context);
    if ('status' in admitted) return admitted;
    const { operation, demand } = admitted;
    if (!operation.coerce(variables)) return this.refuseVariables(operation, variables, context);
    context.charge = new Charge(context.meter, demand.cost);
    const refused = refusalOf(await context.meter.take(demand.cost));
    if (refused) return refusal(refused, context);
    const results = await subscribe({
      schema: this.schema,
      document,
      operationName: operation.name,
      variableValues: variables,
      contextValue: context,
    });
    return Symbol.asyncIterator in results
      ? new RunningSubscription(results, context, onOver)
      : refusal(results.errors?.[0], context);
  }

  /** The kind of an operation; `undefined` if there is none with this name. */
  kindOf(document: DocumentNode, operationName: string | null | undefined): OperationTypeNode | undefined {
    return this.operations.find(document, operationName)?.node.operation;
  }

  /** The operation and its demand, or the response that refuses it to this caller. */
  private admit(
    document: DocumentNode,
    operationName: string | null | undefined,
    variables: Variables,
    context: Context,
  ): Outcome | { operation: Operation; demand: Demand } {
    const operation = this.operations.find(document, operationName);
    if (!operation) return refusal(unknownOperation(operationName), context);
    context.observer.onOperation(operation.label, operation.name);
    if (operation.lifecycle) this.notice(operation, operation.lifecycle, variables, context);
    const demand = operation.demand(variables);
    if (!demand) return this.refuseVariables(operation, variables, context);
    const denied = deny(context.caller, demand) ?? this.tooCostly(operation, variables);
    return denied ? refusal(denied, context) : { operation, demand };
  }

  /** Sets the response's notice of deprecated and unstable elements that the operation uses, and counts them. */
  private notice(operation: Operation, lifecycle: Lifecycle, variables: Variables, context: Context): void {
    context.notice = lifecycle.noticeFor(variables);
    if (context.notice) this.uses.countAll(context.notice.marks, operation.spelling);
  }

  /** Runs a charged operation: by its plan if it has one and that succeeds, else with graphql-js. */
  private async execute(
    operation: Operation,
    variables: Variables,
    coerced: Record<string, unknown>,
    context: Context,
  ): Promise<ExecutionResult> {
    const { document, plan, name } = operation;
    let { session } = context;
    if (plan && !context.shared) {
      try {
        return { data: await plan.run(context, coerced) };
      } catch (error) {
        // graphql-js reports all errors, by running the operation again; after a timeout without the database.
        if (failureOf(error) === 'timeout') session = failedSession(error);
      }
    }
    return execute({
      schema: this.schema,
      document,
      operationName: name,
      variableValues: variables,
      contextValue: plan ? context.again(session) : context,
    });
  }

  /** Why the response could be too large. Nothing is computed if no variables could make it so. */
  private tooCostly({ size, node }: Operation, variables: Variables): ProblemError | undefined {
    const most = mostOf(this.costs, node.operation);
    if (size.most <= most) return undefined;
    const cost = estimateAt(size, variables);
    if (cost <= most) return undefined;
    const what = node.operation === 'subscription' ? 'An event of the subscription' : 'The operation';
    const message = `${what} has an estimated cost of ${cost} values; at most ${most} are allowed. Ask for shorter pages or fewer fields.`;
    return new ProblemError('OPERATION_TOO_COMPLEX', message);
  }

  private refuseVariables(operation: Operation, variables: Variables, context: Context): Outcome {
    const details = variableErrors(this.schema, operation.node, variables, context.hidesSuggestions);
    return refusal(badInput(...details), context);
  }
}

/** Why this caller may not run an operation with this demand; `undefined` if it may. */
function deny(caller: Caller, demand: Demand): ProblemError | undefined {
  for (const scope of demand.scopes) {
    const refused = refuseScope(caller, scope);
    if (refused) return refused;
  }
  if (!isTooExpensive(demand.cost, caller.quota)) return undefined;
  const { perMinute, perDay } = caller.quota;
  const most = perDay < perMinute ? `${perDay} requests a day` : `${perMinute} requests a minute`;
  const message = `The operation has ${demand.cost} counted root fields, more than the ${most} of this plan.`;
  return new ProblemError('OPERATION_TOO_COMPLEX', message);
}

function needsStream(): ProblemError {
  const message =
    'Subscriptions are served over WebSocket (graphql-transport-ws) here, and as server-sent events at /graphql/stream.';
  return new ProblemError('BAD_REQUEST', message);
}

function unknownOperation(name: string | null | undefined): ProblemError {
  const message = name
    ? `The document has no operation named "${name}".`
    : 'The document has more than one operation: operationName must say which to run.';
  return new ProblemError('GRAPHQL_VALIDATION_FAILED', message);
}
