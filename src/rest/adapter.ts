import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { emptyBody, ProblemError } from '../errors/errors';
import { requireScope } from '../graphql/admission';
import type { Api, CreateOperationRequest } from '../graphql/context';
import type { Executor } from '../graphql/executor';
import { IDEMPOTENCY_KEY, REPLAYED } from '../graphql/idempotency';
import { RunningSubscription } from '../graphql/subscriptions';
import { ListStream, StreamedList } from './list-stream';
import { acceptedType, EVENT_STREAM, JSON_TYPE, JSON_UTF8 } from './media-types';
import { preconditionOf } from './preconditions';
import type { PreparedRoute } from './prepared-route';
import { type RestRequest, variablesOf } from './request-variables';
import { sendResult } from './response';
import { type Deprecation, documentationOf, filler } from './rest-route';
import type { EventStreams } from './server-sent-events';

interface RestOptions {
  readonly executor: Executor;
  readonly routes: readonly PreparedRoute[];
  readonly createOperationRequest: CreateOperationRequest<FastifyRequest>;
  readonly streams: EventStreams;
}

/**
 * Registers the routes of the REST interface. Each route runs its prepared GraphQL document on the executor. The
 * server's error handler answers errors.
 */
export function registerRoutes(app: FastifyInstance, options: RestOptions): void {
  const { executor, routes } = options;
  for (const route of routes) {
    const streamed = route.additions && new StreamedList(route, route.additions);
    app.route({
      method: route.method === 'GET' ? ['GET', 'HEAD'] : route.method,
      url: routerPath(route.path),
      config: {
        logName: route.id,
        annotate: annotationOf(route),
        check: checkOf(route, executor.uses),
      },
      handler: (request, reply) =>
        streamed &&
        request.method === 'GET' &&
        acceptedType(request.headers.accept, [...JSON_TYPES, EVENT_STREAM]) === EVENT_STREAM
          ? stream(options, streamed, request as RestRequest, reply)
          : handle(options, route, request as RestRequest, reply),
    });
  }
}

/** The JSON format of REST: identifiers are integers, and fields without a value are omitted. */
const REST_API: Api = { name: 'rest', json: { ids: 'number', nulls: 'omitted' }, sendsCoerced: true };

/** Converts `/pets/{petId}` to Fastify's syntax. Parameters match any non-empty text. */
function routerPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1([\\s\\S]+)');
}

/**
 * Makes the `check` function of a route. It rejects callers without the required scope, and clients that do not accept JSON.
 * It also counts the uses of a deprecated route.
 */
function checkOf(
  { deprecation, on, scope, additions }: PreparedRoute,
  uses: Executor['uses'],
): FastifyContextConfig['check'] {
  const types = additions ? [...JSON_TYPES, EVENT_STREAM] : JSON_TYPES;
  return ({ caller, headers }) => {
    if (deprecation) uses.count(on, 'deprecated', 'rest');
    requireScope(caller, scope);
    if (acceptedType(headers.accept, types) === undefined)
      throw new ProblemError(
        'NOT_ACCEPTABLE',
        `Responses are ${additions ? `${JSON_TYPE} or ${EVENT_STREAM}` : JSON_TYPE}.`,
      );
  };
}

const JSON_TYPES = [JSON_TYPE, JSON_UTF8];

/** Sends a list as a stream. Errors of its first page reject the promise. */
async function stream(
  { executor, createOperationRequest, streams }: RestOptions,
  list: StreamedList,
  request: RestRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const operation = createOperationRequest(request, REST_API);
  const pages = new ListStream(list, request, executor, () => streams.continuationOf(request, operation));
  const result = await streams.start(request, operation, (onEnd) => pages.start(operation, onEnd));
  if (!(result instanceof RunningSubscription)) return sendResult(list.route, result.body, request, reply);
  return streams.send(request, reply, result, pages);
}

/** Runs the operation of a route and sends its response. Errors are thrown, or reject the promise. */
function handle(
  { executor, createOperationRequest }: RestOptions,
  route: PreparedRoute,
  request: RestRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  if (route.inputs.body && request.body === undefined) throw emptyBody();
  const variables = variablesOf(route, request);
  const key = route.acceptsIdempotencyKey ? request.headers[IDEMPOTENCY_KEY] : undefined;
  const idempotency = key === undefined ? undefined : { header: String(key), operationId: route.id };
  const operationRequest = createOperationRequest(request, REST_API, idempotency);
  const precondition = route.isConditional ? preconditionOf(request.headers, route, operationRequest) : undefined;
  const conditional = precondition ? { ...operationRequest, precondition } : operationRequest;
  return executor.run(route.document, null, variables, conditional).then((outcome) => {
    if (outcome.replayed) reply.headers(REPLAYED);
    return sendResult(route, outcome.body, request, reply);
  });
}

/** The `Deprecation` and `Sunset` headers. */
function datesOf({ since, sunset }: Deprecation) {
  return {
    deprecation: `@${since.getTime() / 1000}`, // RFC 9745, section 2.1
    sunset: sunset.toUTCString(), // RFC 8594, section 3
  };
}

/**
 * Makes the `annotate` function of a route, which sets its deprecation and stability headers; `undefined` if the route
 * has no such headers.
 */
function annotationOf(route: PreparedRoute): FastifyContextConfig['annotate'] {
  const { deprecation, stability } = route;
  if (!deprecation && !stability) return undefined;
  const dates = deprecation && datesOf(deprecation);
  const documentation = `<${documentationOf(route)}>; rel="deprecation"; type="text/html"`;
  const linkOf = deprecation && filler(`<${deprecation.successor}>; rel="successor-version", ${documentation}`);
  return (request, reply) => {
    const { params, query } = request as RestRequest;
    if (dates && linkOf) reply.headers(dates).header('link', linkOf(params));
    if (stability) {
      const isUsed = stability.parameter === undefined || Object.hasOwn(query, stability.parameter);
      if (isUsed) reply.header('x-stability', stability.level);
    }
  };
}
