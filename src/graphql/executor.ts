import { type DocumentNode, type ExecutionResult, execute, type GraphQLSchema } from 'graphql';
import { getVariableValues } from 'graphql/execution/values';
import type { Caller } from '../access/caller';
import { isTooExpensive } from '../rate-limit/rules';
import type { Context } from './context';
import { ProblemError } from './errors';
import { Charge, refusalOf } from './limits';
import { type Demand, type Operation, Operations } from './operation';
import { bodyOf, type Outcome, refusal } from './outcome';
import { RunOnce } from './run-once';
import { variableErrors } from './variable-errors';

export type Variables = Readonly<Record<string, unknown>>;

/**
 * Runs validated documents on the schema: the one way to the resolvers, for GraphQL and REST alike. Access is checked and
 * the operation is charged as a whole, before any of its root fields runs.
 */
export class Executor {
  private readonly operations: Operations;
  private readonly once: RunOnce;

  /** @param now milliseconds of the Unix epoch. */
  constructor(
    readonly schema: GraphQLSchema,
    now: () => number,
  ) {
    this.operations = new Operations(schema);
    this.once = new RunOnce(now);
  }

  async run(
    document: DocumentNode,
    operationName: string | null | undefined,
    variables: Variables,
    context: Context,
  ): Promise<Outcome> {
    const operation = this.operations.find(document, operationName);
    if (!operation) return refusal(unknownOperation(operationName), context);

    context.observer.onOperation(operation.label, operation.name);
    const demand = operation.demand(variables);
    if (!demand) return this.refuseVariables(operation, variables, context);
    const denied = deny(context.caller, demand);
    if (denied) return refusal(denied, context);

    context.charge = new Charge(context.meter, demand.cost);
    if (context.idempotency && operation.node.operation === 'mutation')
      return this.runOnce(operation, variables, context, demand);
    const refused = demand.cost === 0 && refusalOf(await context.meter.take(0));
    if (refused) return refusal(refused, context);
    const result = await this.execute(operation, variables, context);
    const { standing } = context.meter;
    const limited = standing && refusalOf(standing);
    if (limited) return refusal(limited, context);
    if (result.errors && result.data === undefined)
      return this.refuseVariables(operation, variables, context, result);
    return { status: 200, body: bodyOf(result, context, demand.cost) };
  }

  /** A mutation under an idempotency key. */
  private async runOnce(
    operation: Operation,
    variables: Variables,
    context: Context,
    demand: Demand,
  ): Promise<Outcome> {
    const { coerced } = getVariableValues(this.schema, operation.node.variableDefinitions ?? [], variables);
    if (!coerced) return { ...this.refuseVariables(operation, variables, context), replayed: false };
    return this.once.run({ operation, coerced, demand }, context, (shared) =>
      this.execute(operation, variables, shared),
    );
  }

  /** By the plan where the operation has one and it succeeds, else by graphql-js. */
  private async execute(
    operation: Operation,
    variables: Variables,
    context: Context,
  ): Promise<ExecutionResult> {
    const { document, node, name } = operation;
    const { coerced } = operation.plan
      ? getVariableValues(this.schema, node.variableDefinitions ?? [], variables)
      : { coerced: undefined };
    if (operation.plan && coerced) {
      try {
        return { data: await operation.plan.run(context, coerced) };
      } catch {
        // A caller without quota is refused as a whole; everything else is graphql-js's to say.
        if (context.meter.standing && refusalOf(context.meter.standing)) return {};
      }
    }
    return execute({
      schema: this.schema,
      document,
      operationName: name,
      variableValues: variables,
      contextValue: context,
    });
  }

  private refuseVariables(
    operation: Operation,
    variables: Variables,
    context: Context,
    { errors = [] }: ExecutionResult = {},
  ): Outcome {
    const details = variableErrors(this.schema, operation.node, variables);
    const message = details.map(({ path, message }) => `${path}: ${message}`).join('; ');
    return refusal(
      new ProblemError('BAD_USER_INPUT', message || String(errors[0]?.message), details),
      context,
    );
  }
}

/** Why this caller may not run what demands so much; `undefined` if it may. */
function deny({ scopes, quota, apiKey }: Caller, demand: Demand): ProblemError | undefined {
  const missing = demand.scopes.find((scope) => !scopes.has(scope));
  if (missing) {
    const needed = `needs an API key with the scope ${missing}`;
    return apiKey
      ? new ProblemError('FORBIDDEN', `This operation ${needed}; this key does not have it.`)
      : new ProblemError('UNAUTHENTICATED', `This operation ${needed}.`);
  }
  if (!isTooExpensive(demand.cost, quota)) return undefined;
  const { perMinute, perDay } = quota;
  const most = perDay < perMinute ? `${perDay} requests a day` : `${perMinute} requests a minute`;
  const message = `The operation has ${demand.cost} counted root fields, more than the ${most} of this plan.`;
  return new ProblemError('OPERATION_TOO_COMPLEX', message);
}

function unknownOperation(name: string | null | undefined): ProblemError {
  const message = name
    ? `The document has no operation named "${name}".`
    : 'The document has more than one operation: operationName must say which to run.';
  return new ProblemError('GRAPHQL_VALIDATION_FAILED', message);
}
