import { badInput, ProblemError } from '../errors/errors';
import { variableErrors } from '../errors/inputs';
import { exceedsQuota } from '../rate-limit/rules';
import type { Caller, Scope } from './caller';
import type { OperationRequest, Variables } from './context';
import { type CostLimits, estimateAt, refuseCost } from './cost';
import type { Analysis, Operation } from './operation';
import { type Outcome, type ResponseContext, refusal } from './outcome';

/** An operation that its caller may run. */
export interface Admitted extends ResponseContext {
  readonly operation: Operation;
  readonly analysis: Analysis;
  /** The coerced variables. */
  readonly variables: Variables;
  /** The estimated cost for these variables. */
  readonly cost: number;
}

/**
 * Coerces the variables, and checks the caller's scopes and quota, the estimated cost and the variables, in this order.
 * @returns the admitted operation, or the response that reports the first problem.
 */
export function admit(
  operation: Operation,
  sent: Variables,
  request: OperationRequest,
  costs: CostLimits,
): Outcome | Admitted {
  const { notice } = operation;
  const variables = request.api.coerces ? sent : operation.coerce(sent);
  const analysis = operation.analysisFor(variables);
  const cost = analysis && variables ? estimateAt(analysis.estimate, variables) : 0;
  const denied =
    analysis && (deny(analysis, request) ?? (variables && refuseCost(operation, analysis, variables, costs, cost)));
  if (denied) return refusal(denied, { request, notice });
  if (variables && analysis) return { request, notice, operation, analysis, variables, cost };
  const details = variableErrors(operation, sent);
  return refusal(badInput(...details), { request, notice });
}

/** Checks the caller's scopes and quota. @returns the error; `undefined` if the caller may run the analysis. */
function deny({ scopes, countedFields }: Analysis, { caller }: OperationRequest): ProblemError | undefined {
  for (const scope of scopes) {
    const refused = refuseScope(caller, scope);
    if (refused) return refused;
  }
  if (!exceedsQuota(countedFields, caller.quota)) return undefined;
  const { perMinute, perDay } = caller.quota;
  const most = perDay < perMinute ? `${perDay} requests a day` : `${perMinute} requests a minute`;
  const message = `The operation has ${countedFields} counted root fields, more than the ${most} of this plan.`;
  return new ProblemError('OPERATION_TOO_COMPLEX', message);
}

/** Checks whether the caller has the required scope. @returns the error; `undefined` if the caller may proceed. */
export function refuseScope({ scopes, keyId }: Caller, scope: Scope | undefined): ProblemError | undefined {
  if (scope === undefined || scopes.has(scope)) return undefined;
  const needed = `needs an API key with the scope ${scope}`;
  return keyId
    ? new ProblemError('FORBIDDEN', `This operation ${needed}; this key does not have it.`)
    : new ProblemError('UNAUTHENTICATED', `This operation ${needed}.`);
}
