import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';
import { emptyBody, ProblemError } from '../errors/errors';
import { requireScope } from '../graphql/admission';
import type { Api, OperationRequest } from '../graphql/context';
import type { Executor } from '../graphql/executor';
import { IDEMPOTENCY_KEY, idempotencyHeaders } from '../graphql/idempotency';
import { annotationOf } from './annotation-headers';
import { preconditionOf } from './if-match';
import type { PreparedOperation } from './prepared-operation';
import { JSON_TYPE } from './representation';
import { type RestRequest, variablesOf } from './request-variables';
import { sendResult } from './send-result';

export interface RestOptions {
  readonly executor: Executor;
  readonly operations: readonly PreparedOperation[];
  requestOf(request: FastifyRequest): OperationRequest;
}

/**
 * Registers the routes of the REST interface. Each operation runs its prepared GraphQL document on the executor. The
 * server's error handler answers errors.
 */
export function registerOperations(app: FastifyInstance, { executor, operations, requestOf }: RestOptions): void {
  for (const operation of operations) {
    app.route({
      method: methodsOf(operation),
      url: routerPath(operation.path),
      config: {
        operation: operation.id,
        annotate: annotationOf(operation),
        check: checkOf(operation, executor.uses),
      },
      handler: (request, reply) => run(executor, operation, request as RestRequest, reply, requestOf(request)),
    });
  }
}

/** The methods of each path. The keys are paths in Fastify's syntax. */
export function methodsByPath(operations: readonly PreparedOperation[]): ReadonlyMap<string, readonly string[]> {
  const methods = new Map<string, string[]>();
  for (const operation of operations) {
    const path = routerPath(operation.path);
    methods.set(path, [...(methods.get(path) ?? []), ...methodsOf(operation)]);
  }
  return methods;
}

function methodsOf({ method }: PreparedOperation): string[] {
  return method === 'GET' ? ['GET', 'HEAD'] : [method];
}

/** The JSON format of REST: identifiers are integers, and fields without a value are omitted. */
const REST_API: Api = { name: 'rest', json: { ids: 'number', nulls: 'omitted' }, coerces: true };

/** Converts `/pets/{petId}` to Fastify's syntax. Parameters match any non-empty text. */
function routerPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1([\\s\\S]+)');
}

/**
 * Makes the `check` function of a route. It rejects callers without the required scope, and clients that do not accept JSON.
 * It also counts the uses of a deprecated operation.
 */
function checkOf({ deprecation, on, scope }: PreparedOperation, uses: Executor['uses']): FastifyContextConfig['check'] {
  return ({ caller, headers }) => {
    if (deprecation) uses.count(on, 'deprecated', 'rest');
    requireScope(caller, scope);
    requireJsonAccepted(headers.accept);
  };
}

function requireJsonAccepted(accept: string | undefined): void {
  if (!accept || accept === '*/*' || accept === 'application/json') return;
  const type = new Negotiator({ headers: { accept } }).mediaType(['application/json', JSON_TYPE]);
  if (!type) throw new ProblemError('NOT_ACCEPTABLE', 'Responses are application/json.');
}

/** Runs an operation and sends its response. Errors are thrown, or reject the promise. */
function run(
  executor: Executor,
  operation: PreparedOperation,
  request: RestRequest,
  reply: FastifyReply,
  graphqlRequest: OperationRequest,
): Promise<FastifyReply> {
  if (operation.inputs.body && request.body === undefined) throw emptyBody();
  const variables = variablesOf(operation, request);
  const key = operation.runsOnce ? request.headers[IDEMPOTENCY_KEY] : undefined;
  const restRequest: OperationRequest = {
    session: graphqlRequest.session,
    caller: graphqlRequest.caller,
    meter: graphqlRequest.meter,
    requestId: graphqlRequest.requestId,
    observer: graphqlRequest.observer,
    api: REST_API,
    idempotency: key === undefined ? undefined : { header: String(key), operation: operation.id },
    precondition: operation.isConditional ? preconditionOf(request.headers['if-match'], operation) : undefined,
  };
  return executor.run(operation.document, null, variables, restRequest).then((outcome) => {
    if (outcome.replayed !== undefined) reply.headers(idempotencyHeaders(outcome));
    return sendResult(operation, outcome.body, request, reply);
  });
}
