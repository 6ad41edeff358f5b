import {
  createSourceEventStream,
  type DocumentNode,
  type GraphQLSchema,
  isAbstractType,
  isObjectType,
  type OperationTypeNode,
} from 'graphql';
import { badInput } from '../domain/domain-error';
import { isTooExpensive } from '../rate-limit/rules';
import type { Plan } from './compile';
import { Context, type OperationRequest } from './context';
import { type CostLimits, mostOf } from './cost';
import { ProblemError } from './errors';
import { estimateAt } from './estimate';
import { Charge } from './limits';
import { type Operation, Operations } from './operation';
import { type Answering, answer, eventOf, type Outcome, refusal } from './outcome';
import type { ReplicaReads } from './replica-reads';
import { Run, type Values } from './run';
import { RunOnce } from './run-once';
import { RunningSubscription } from './running-subscription';
import { refuseScope } from './scope-check';
import { Uses } from './uses';
import { variableErrors } from './variable-errors';
import type { Variables } from './variables';

export interface ExecutorOptions {
  /** Milliseconds of the Unix epoch. */
  now(): number;
  readonly costs: CostLimits;
  readonly replicas?: ReplicaReads;
  /** Called around each operation; it is `undefined` if the document has none with the name. */
  trace?(operation: Operation | undefined, run: () => Promise<Outcome>): Promise<Outcome>;
}

/** An operation that its caller may run. */
interface Admitted extends Answering {
  readonly operation: Operation;
  readonly plan: Plan;
  readonly variables: Values;
}

/**
 * Runs validated documents against the schema: the only path to the resolvers, for both GraphQL and REST. Access is
 * checked before anything runs; `@rateLimit` charges the whole operation before the first of its counted fields.
 */
export class Executor {
  /** How often deprecated and unstable elements were used. */
  readonly uses = new Uses();
  private readonly operations: Operations;
  private readonly once: RunOnce;

  constructor(
    readonly schema: GraphQLSchema,
    private readonly options: ExecutorOptions,
  ) {
    for (const type of Object.values(schema.getTypeMap()))
      if (isAbstractType(type) || (isObjectType(type) && type.isTypeOf))
        throw new Error(`The executor knows no abstract types: ${type}`);
    this.operations = new Operations(schema);
    this.once = new RunOnce(options.now);
  }

  run(
    document: DocumentNode,
    operationName: string | null | undefined,
    variables: Variables,
    request: OperationRequest,
  ): Promise<Outcome> {
    const operation = this.operations.find(document, operationName);
    const run = () =>
      operation ? this.perform(operation, variables, request) : this.refuseName(operationName, request);
    return this.options.trace ? this.options.trace(operation, run) : run();
  }

  /**
   * Starts a subscription. It is checked and charged once, not for each event.
   * @param onOver called when it ends, if it started.
   * @returns the subscription, or the response that refuses it.
   */
  async subscribe(
    document: DocumentNode,
    operationName: string | null | undefined,
    sent: Variables,
    request: OperationRequest,
    onOver: (ended: RunningSubscription) => void,
  ): Promise<RunningSubscription | Outcome> {
    const operation = this.operations.find(document, operationName);
    if (!operation) return this.refuseName(operationName, request);
    const admitted = this.admit(operation, sent, request);
    if ('status' in admitted) return admitted;
    const { plan, variables } = admitted;
    const context = new Context(request, new Charge(request.meter, plan.cost), request.session);
    const source = await createSourceEventStream({
      schema: this.schema,
      document,
      operationName: operation.name,
      variableValues: sent,
      contextValue: context,
    });
    if (!(Symbol.asyncIterator in source)) return refusal(source.errors?.[0], admitted);
    const run = (event: unknown) => new Run(context, variables, event).execute(plan.root, false);
    const events = source[Symbol.asyncIterator]();
    return new RunningSubscription(
      events,
      async (event) => eventOf(await run(event), admitted),
      admitted,
      onOver,
    );
  }

  /** The kind of an operation; `undefined` if there is none with this name. */
  kindOf(document: DocumentNode, operationName: string | null | undefined): OperationTypeNode | undefined {
    return this.operations.find(document, operationName)?.kind;
  }

  private async perform(operation: Operation, sent: Variables, request: OperationRequest): Promise<Outcome> {
    const { kind } = operation;
    const runsOnce = kind === 'mutation' && request.idempotency !== undefined;
    const admitted = this.admit(operation, sent, request);
    if ('status' in admitted) return runsOnce ? { ...admitted, replayed: false } : admitted;
    if (kind === 'subscription') return refusal(needsStream(), admitted);
    if (kind === 'query') return this.execute(admitted, this.options.replicas?.session(request.caller.id));
    const outcome = await (runsOnce ? this.executeOnce(admitted) : this.execute(admitted));
    await this.options.replicas?.noteWrite(request.caller.id);
    return outcome;
  }

  private async execute(admitted: Admitted, session = admitted.request.session): Promise<Outcome> {
    const { request, operation, plan, variables } = admitted;
    const charge = new Charge(request.meter, plan.cost);
    // No field charges it then: it only counts towards what a caller may do free of quota.
    if (plan.cost === 0) {
      try {
        await charge.settle();
      } catch (problem) {
        return refusal(problem, admitted);
      }
    }
    const run = new Run(new Context(request, charge, session), variables);
    const result = await run.execute(plan.root, operation.kind === 'mutation');
    return charge.problem ? refusal(charge.problem, admitted) : answer(result, admitted, plan.cost);
  }

  private executeOnce(admitted: Admitted): Promise<Outcome> {
    const { request, plan, variables } = admitted;
    const charge = new Charge(request.meter, plan.cost);
    return this.once.run({ ...admitted, charge }, (transaction, shared) =>
      new Run(new Context(request, charge, transaction, shared), variables).execute(plan.root, true),
    );
  }

  /** What the caller may run, or the response that refuses it. Its access is checked before its variables. */
  private admit(operation: Operation, sent: Variables, request: OperationRequest): Outcome | Admitted {
    request.observer.onOperation(operation.label, operation.name);
    const notice = operation.lifecycle?.noticeFor(sent);
    if (notice) this.uses.countAll(notice.marks, request.api.name);
    const variables = operation.coerce(sent);
    const plan = operation.plan(variables);
    const denied = plan && (deny(plan, request) ?? this.tooCostly(operation, sent));
    if (denied) return refusal(denied, { request, notice });
    if (variables && plan) return { request, notice, operation, plan, variables };
    const details = variableErrors(this.schema, operation.node, sent, request.hidesSuggestions === true);
    return refusal(badInput(...details), { request, notice });
  }

  /** Why the response could be too large. Nothing is computed if no variables could make it so. */
  private tooCostly({ size, kind }: Operation, variables: Variables): ProblemError | undefined {
    const most = mostOf(this.options.costs, kind);
    if (size.most <= most) return undefined;
    const cost = estimateAt(size, variables);
    if (cost <= most) return undefined;
    const what = kind === 'subscription' ? 'An event of the subscription' : 'The operation';
    const message = `${what} has an estimated cost of ${cost} values; at most ${most} are allowed. Ask for shorter pages or fewer fields.`;
    return new ProblemError('OPERATION_TOO_COMPLEX', message);
  }

  private async refuseName(name: string | null | undefined, request: OperationRequest): Promise<Outcome> {
    const message = name
      ? `The document has no operation named "${name}".`
      : 'The document has more than one operation: operationName must say which to run.';
    return refusal(new ProblemError('GRAPHQL_VALIDATION_FAILED', message), { request });
  }
}

/** Why this caller may not run a plan; `undefined` if it may. */
function deny({ scopes, cost }: Plan, { caller }: OperationRequest): ProblemError | undefined {
  for (const scope of scopes) {
    const refused = refuseScope(caller, scope);
    if (refused) return refused;
  }
  if (!isTooExpensive(cost, caller.quota)) return undefined;
  const { perMinute, perDay } = caller.quota;
  const most = perDay < perMinute ? `${perDay} requests a day` : `${perMinute} requests a minute`;
  const message = `The operation has ${cost} counted root fields, more than the ${most} of this plan.`;
  return new ProblemError('OPERATION_TOO_COMPLEX', message);
}

function needsStream(): ProblemError {
  const message =
    'Subscriptions are served over WebSocket (graphql-transport-ws) here, and as server-sent events at /graphql/stream.';
  return new ProblemError('BAD_REQUEST', message);
}
