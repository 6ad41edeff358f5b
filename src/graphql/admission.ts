import { badInput, ProblemError } from '../errors/errors';
import { variableErrors } from '../errors/input-checks';
import { exceedsQuota } from '../rate-limit/rules';
import type { Caller, Scope } from './caller';
import type { CoercedVariables, OperationRequest, SentVariables } from './context';
import { type CostLimits, estimateAt, requireCost } from './cost';
import type { Analysis, Operation } from './operation';
import type { ResponseContext } from './outcome';

/** A requested operation, with its analysis for the variables of the request. */
export interface AnalysedOperation extends ResponseContext {
  readonly operation: Operation;
  /**
   * The variables that graphql-js gets. It coerces all variables again, even if they are already coerced (`Api.sendsCoerced`).
   */
  readonly sentVariables: SentVariables;
  /** `undefined` if the variables are invalid. */
  readonly variables: CoercedVariables | undefined;
  /** `undefined` if the analysis depends on invalid variables. */
  readonly analysis: Analysis | undefined;
}

/** An operation that its caller may run. */
export interface AdmittedOperation extends AnalysedOperation {
  readonly variables: CoercedVariables;
  readonly analysis: Analysis;
  /** The estimated cost for these variables. */
  readonly cost: number;
}

/** Coerces the variables and analyses the operation. */
export function analyseOperation(
  operation: Operation,
  sent: SentVariables,
  operationRequest: OperationRequest,
): AnalysedOperation {
  const isCoerced = operationRequest.api.sendsCoerced;
  const variables = isCoerced ? (sent as CoercedVariables) : operation.coerce(sent);
  const analysis = operation.analysisFor(variables);
  const sentVariables = isCoerced || !variables ? sent : operation.declaredOf(sent);
  return { operationRequest, operation, sentVariables, variables, analysis, stability: analysis?.stability };
}

/**
 * Checks the caller's scopes and quota, the estimated cost and the variables, in this order. Bounds of input fields are enforced
 * by the services (`checkInput`). Invalid variables are reported together with the bounds that they break, so that the caller
 * gets all errors together.
 * @throws ProblemError for the first problem.
 */
export function admit(analysed: AnalysedOperation, costs: CostLimits): AdmittedOperation {
  const { operationRequest, operation, sentVariables, variables, analysis, stability } = analysed;
  const { caller } = operationRequest;
  const cost = analysis && variables ? estimateAt(analysis.estimate, variables) : 0;
  if (analysis) {
    for (const scope of analysis.scopes) requireScope(caller, scope);
    requireQuota(caller, analysis);
    if (variables) requireCost(operation, analysis, variables, costs, cost);
  }
  if (!variables || !analysis) throw badInput(...variableErrors(operation, sentVariables));
  return { operationRequest, operation, sentVariables, variables, analysis, stability, cost };
}

/** Checks whether the caller has the required scope, if any. @throws ProblemError `UNAUTHENTICATED`, `FORBIDDEN`. */
export function requireScope({ scopes, keyId, expiresAt }: Caller, scope: Scope | undefined): void {
  if (scope === undefined || scopes.has(scope)) return;
  if (expiresAt !== undefined)
    throw new ProblemError('FORBIDDEN', `This operation needs the scope ${scope}; this user does not have it.`);
  // Keys are never granted ORDER: WRITE includes it.
  const needed = `needs an API key with the scope ${scope === 'ORDER' ? 'WRITE' : scope}`;
  throw keyId
    ? new ProblemError('FORBIDDEN', `This operation ${needed}; this key does not have it.`)
    : new ProblemError('UNAUTHENTICATED', `This operation ${needed}.`);
}

/** Checks whether the caller's plan allows the operation at all. @throws ProblemError `OPERATION_TOO_COMPLEX`. */
function requireQuota({ quota }: Caller, { countedFields }: Analysis): void {
  if (!exceedsQuota(countedFields, quota)) return;
  const { perMinute, perDay } = quota;
  const most = perDay < perMinute ? `${perDay} requests a day` : `${perMinute} requests a minute`;
  const message = `The operation has ${countedFields} counted root fields, more than the ${most} of this plan.`;
  throw new ProblemError('OPERATION_TOO_COMPLEX', message);
}
