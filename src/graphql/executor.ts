import { createHash } from 'node:crypto';
import {
  createSourceEventStream,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  isObjectType,
  type OperationTypeNode,
} from 'graphql';
import { ProblemError } from '../errors/errors';
import { type Admitted, admit } from './admission';
import { Charge } from './charge';
import { Context, type OperationRequest, type Variables } from './context';
import type { CostLimits } from './cost-limits';
import { IdempotentMutations } from './idempotent-mutations';
import { type Operation, Operations } from './operation';
import { answer, eventOf, type Outcome, refusal } from './outcome';
import { Run } from './run';
import { RunningSubscription } from './running-subscription';
import { SharedResults } from './shared-results';
import { Uses } from './uses';

export interface ExecutorOptions {
  /** Milliseconds of the Unix epoch. */
  now(): number;
  readonly costs: CostLimits;
  /** Maximum size of a response, and of an event of a subscription. */
  readonly maxResponseBytes: number;
}

/**
 * Runs validated documents against the schema: the only path to the resolvers, for both GraphQL and REST. Access is
 * checked before anything runs; `@rateLimit` charges the whole operation before the first of its counted fields.
 */
export class Executor {
  /** How often deprecated and unstable elements were used. */
  readonly uses = new Uses();
  private readonly operations: Operations;
  private readonly answers = new SharedResults<ExecutionResult>();
  private readonly idempotent: IdempotentMutations;

  constructor(
    readonly schema: GraphQLSchema,
    private readonly options: ExecutorOptions,
  ) {
    for (const type of Object.values(schema.getTypeMap()))
      if (isObjectType(type) && type.isTypeOf)
        throw new Error(`The executor does not call isTypeOf, which ${type} has`);
    this.operations = new Operations(schema);
    this.idempotent = new IdempotentMutations(options.now);
  }

  run(
    document: DocumentNode,
    operationName: string | null | undefined,
    variables: Variables,
    request: OperationRequest,
  ): Promise<Outcome> {
    const operation = this.operations.find(document, operationName);
    return operation ? this.perform(operation, variables, request) : this.refuseName(operationName, request);
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
    const work = this.workOf(admitted, sent);
    const answerTo = (event: object) => {
      const session = request.session.renewed();
      const own = new Context(request, context.charge, session, event);
      const { result, end } = this.answers.find(event, work, () => ({
        result: new Run(own, variables, this.options.maxResponseBytes, event).execute(plan.root, false),
        end: () => session.work.deadline.end(),
      }));
      const onProblem = (problem: unknown) => refusal(problem, admitted).body;
      return { result: result.then((found) => eventOf(found, admitted), onProblem), end };
    };
    const events = source[Symbol.asyncIterator]() as AsyncIterator<object>;
    return new RunningSubscription(events, answerTo, admitted, onOver);
  }

  /** The kind of an operation; `undefined` if there is none with this name. */
  kindOf(document: DocumentNode, operationName: string | null | undefined): OperationTypeNode | undefined {
    return this.operations.find(document, operationName)?.kind;
  }

  private async perform(operation: Operation, sent: Variables, request: OperationRequest): Promise<Outcome> {
    const { kind } = operation;
    const isIdempotent = kind === 'mutation' && request.idempotency !== undefined;
    const admitted = this.admit(operation, sent, request);
    if ('status' in admitted) return isIdempotent ? { ...admitted, replayed: false } : admitted;
    if (kind === 'subscription') return refusal(needsStream(), admitted);
    return await (isIdempotent ? this.executeIdempotently(admitted) : this.execute(admitted));
  }

  private async execute(admitted: Admitted): Promise<Outcome> {
    const { request, operation, plan, variables } = admitted;
    const charge = new Charge(request.meter, plan.cost);
    const run = new Run(new Context(request, charge, request.session), variables, this.options.maxResponseBytes);
    try {
      // No field charges it then: it only counts towards what a caller may do free of quota.
      if (plan.cost === 0) await charge.settle();
      const result = await run.execute(plan.root, operation.kind === 'mutation');
      return charge.problem ? refusal(charge.problem, admitted) : answer(result, admitted);
    } catch (problem) {
      // Nobody waits for what still runs.
      request.session.work.deadline.end();
      return refusal(problem, admitted);
    }
  }

  private executeIdempotently(admitted: Admitted): Promise<Outcome> {
    const { request, plan, variables } = admitted;
    const charge = new Charge(request.meter, plan.cost);
    return this.idempotent.run({ ...admitted, charge }, (transaction) =>
      new Run(new Context(request, charge, transaction), variables, this.options.maxResponseBytes).execute(
        plan.root,
        true,
      ),
    );
  }

  /** Stands for all that the answer to an event depends on. Nothing in it is the caller's own, but for what its scopes allow. */
  private workOf({ plan, request }: Admitted, sent: Variables): string {
    const variables = createHash('sha256').update(JSON.stringify(sent)).digest('base64');
    return `${this.answers.numberOf(plan)} ${variables} ${[...request.caller.scopes]}`;
  }

  private admit(operation: Operation, sent: Variables, request: OperationRequest): Outcome | Admitted {
    request.observer.onOperation(operation.label, operation.name);
    const admitted = admit(operation, sent, request, this.options.costs);
    if (admitted.notice) this.uses.countAll(admitted.notice.annotations, request.api.name);
    return admitted;
  }

  private async refuseName(name: string | null | undefined, request: OperationRequest): Promise<Outcome> {
    const message = name
      ? `The document has no operation named "${name}".`
      : 'The document has more than one operation: operationName must say which to run.';
    return refusal(new ProblemError('GRAPHQL_VALIDATION_FAILED', message), { request });
  }
}

function needsStream(): ProblemError {
  const message =
    'Subscriptions are served over WebSocket (graphql-transport-ws) here, and as server-sent events at /graphql/stream.';
  return new ProblemError('BAD_REQUEST', message);
}
