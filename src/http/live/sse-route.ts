import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { FormattedExecutionResult } from 'graphql';
import { ProblemError } from '../../errors/errors';
import { headersOf } from '../../graphql/idempotency';
import { serialize } from '../../graphql/serialization';
import { RunningSubscription } from '../../graphql/subscriptions';
import { acceptedType, EVENT_STREAM, JSON_UTF8 } from '../../rest/media-types';
import type { EventFormat } from '../../rest/server-sent-events';
import { responseType } from '../graphql-media-types';
import { type Parameters, parametersInUrl } from '../graphql-parameters';
import { acceptJsonBodies } from '../json-body';
import type { CreateGraphQLOperationRequest } from '../operation-request';
import type { RequestsInProgress } from '../requests-in-progress';
import { STREAM_PATH } from '../urls';
import type { LiveOperations } from './live-operations';
import { credentialOf, type EventStreams, setStreamHeaders } from './sse-streams';

interface StreamRouteOptions {
  readonly live: LiveOperations;
  readonly streams: EventStreams;
  readonly requests: RequestsInProgress;
  readonly createGraphQLOperationRequest: CreateGraphQLOperationRequest;
}

/**
 * Serves `/graphql/stream`: GraphQL over server-sent events, in the "distinct connections mode" of the graphql-sse protocol.
 * A fault of the operation is an event, since clients retry after an HTTP error, and EventSource does not show its body. The
 * handler of the package graphql-sse is not used, since it cannot end its streams on shutdown.
 */
export async function sseRoute(
  app: FastifyInstance,
  { live, streams, requests, createGraphQLOperationRequest }: StreamRouteOptions,
): Promise<void> {
  acceptJsonBodies(app, requests);

  const handler = async (request: FastifyRequest, reply: FastifyReply) => {
    if (!acceptedType(request.headers.accept, [EVENT_STREAM]))
      throw new ProblemError('NOT_ACCEPTABLE', `Responses are ${EVENT_STREAM}; Accept must allow it.`);
    const sent = request.method === 'GET' ? parametersInUrl(request.query as Parameters) : request.body;
    const result = await live.runRequest(sent, createGraphQLOperationRequest(request), credentialOf(request));
    reply.headers(headersOf(result));
    if (result instanceof RunningSubscription) return streams.send(request, reply, result, GRAPHQL_EVENTS);
    if (isHttpError(result.status)) {
      if (result.status === 405) reply.header('allow', 'POST');
      return reply
        .code(result.status)
        .type(responseType(request.headers.accept) ?? JSON_UTF8)
        .send(result.body);
    }
    setStreamHeaders(reply);
    return reply.send((result.status === 200 ? '' : RETRY_LATER) + next(result.body) + COMPLETE);
  };

  const config = { logName: 'graphql' };
  app.get(STREAM_PATH, { config, exposeHeadRoute: false }, handler);
  app.post(STREAM_PATH, { config }, handler);
}

/**
 * Whether an error with this status sets the HTTP status of the response. This holds for errors of the caller's access and
 * quota, of the method, and of the server. All other errors are faults of the operation.
 */
function isHttpError(status: number): boolean {
  return status >= 500 || [401, 403, 405, 429].includes(status);
}

/** Without this field, EventSource would send an operation with a fault again every three seconds. */
const RETRY_LATER = 'retry: 60000\n\n';
const COMPLETE = 'event: complete\ndata:\n\n';

function next(body: FormattedExecutionResult): string {
  return `event: next\ndata: ${serialize(body)}\n\n`;
}

const GRAPHQL_EVENTS: EventFormat = { textOf: next, comment: () => ':\n\n', end: COMPLETE };
