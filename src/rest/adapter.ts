import accepts from '@fastify/accepts';
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { OpenAPIV3 } from 'openapi-types';
import { ProblemError } from '../errors/problem';
import { refuseScope } from '../graphql/executor/admission';
import type { Api, OperationRequest } from '../graphql/executor/context';
import type { Executor } from '../graphql/executor/executor';
import { IDEMPOTENCY_KEY, idempotencyHeaders } from '../graphql/idempotency/idempotency-header';
import { contractRoutes } from './contract-routes';
import { answerOtherMethods, routeEveryMethod } from './other-methods';
import type { PreparedOperation } from './prepared-operation';
import { preconditionOf } from './requests/if-match';
import { acceptExactJsonBodies, emptyBody } from './requests/json-body';
import { variablesOf } from './requests/request-variables';
import type { RestRequest } from './requests/rest-request';
import { annotationHeadersOf } from './responses/annotation-headers';
import { dataOf, nothingThere } from './responses/rest-errors';
import { answer, JSON_TYPE } from './responses/send-result';

export interface RestOptions {
  readonly executor: Executor;
  readonly operations: readonly PreparedOperation[];
  readonly document: OpenAPIV3.Document;
  requestOf(request: FastifyRequest): OperationRequest;
}

/**
 * The REST interface: each row of the table of operations runs its prepared document on the executor. All errors are
 * thrown, for the server's error handler to answer.
 */
export async function restAdapter(app: FastifyInstance, options: RestOptions): Promise<void> {
  const { executor, operations, document, requestOf } = options;
  await app.register(accepts);
  acceptExactJsonBodies(app);
  routeEveryMethod(app);

  const methods = new Map<string, string[]>();
  for (const operation of operations) {
    const url = routerPath(operation.path);
    const method = operation.method === 'GET' ? ['GET', 'HEAD'] : [operation.method];
    methods.set(url, [...(methods.get(url) ?? []), ...method]);
    app.route({
      method,
      url,
      config: { operation: operation.id, mayAskStatus: STATUS_ROOTS.includes(operation.root) },
      onRequest: welcome(operation, executor.uses),
      handler: (request, reply) => run(executor, operation, request as RestRequest, reply, requestOf(request)),
    });
  }
  for (const [url, allowed] of methods) answerOtherMethods(app, url, allowed);
  contractRoutes(app, document, executor.schema);
}

/** A banned caller may ask for its own status. */
const STATUS_ROOTS = ['rateLimit', 'viewer'];

/** Identifiers are integers, and members without a value are left out. */
const REST_API: Api = { name: 'rest', json: { ids: 'number', nulls: 'omitted' }, coerces: true };

/** `/pets/{petId}` in Fastify's syntax; parameters match only non-empty text. */
function routerPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1([\\s\\S]+)');
}

/**
 * Sets the operation's annotations on the response, whatever its status, and refuses callers without the scope and clients
 * that do not accept JSON, before the body is read.
 */
function welcome(operation: PreparedOperation, uses: Executor['uses']): onRequestHookHandler {
  const annotate = annotationHeadersOf(operation);
  return (request, reply, done) => {
    if (annotate) {
      const { params, query } = request as RestRequest;
      const headers = annotate(params, query, request.headers);
      if (headers) reply.headers(headers);
      if (operation.deprecation) uses.count(operation.on, 'deprecated', 'rest');
    }
    done(refuseScope(request.caller, operation.scope) ?? refuseAccept(request));
  };
}

function refuseAccept(request: FastifyRequest): ProblemError | undefined {
  if (readsJson(request)) return undefined;
  return new ProblemError('NOT_ACCEPTABLE', 'Responses are application/json.');
}

function readsJson(request: FastifyRequest): boolean {
  const { accept } = request.headers;
  if (!accept || accept === '*/*' || accept === 'application/json') return true;
  return request.accepts().type(['application/json', JSON_TYPE]) !== false;
}

async function run(
  executor: Executor,
  operation: PreparedOperation,
  request: RestRequest,
  reply: FastifyReply,
  operationRequest: OperationRequest,
): Promise<FastifyReply> {
  const { params: path, query, body } = request;
  if (operation.body && body === undefined) throw emptyBody();
  const variables = variablesOf(operation, { path, query, body });
  const key = operation.runsOnce ? request.headers[IDEMPOTENCY_KEY] : undefined;
  const idempotency = key === undefined ? undefined : { header: String(key), operation: operation.id };
  const precondition = operation.isConditional
    ? preconditionOf(request.headers['if-match'], operation.tagOf)
    : undefined;
  const asked = { ...operationRequest, api: REST_API, idempotency, precondition };
  const outcome = await executor.run(operation.document, null, variables, asked);
  reply.headers(idempotencyHeaders(outcome));
  const result = resultOf(operation, dataOf(operation, outcome.body));
  if (result === null || result === undefined) throw nothingThere(operation, path);
  return answer(operation, result, request, reply);
}

function resultOf({ root, inner }: PreparedOperation, data: Readonly<Record<string, unknown>>): unknown {
  const result = data[root];
  return inner === undefined ? result : (result as Readonly<Record<string, unknown>> | null)?.[inner];
}
