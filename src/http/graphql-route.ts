import { type ApolloServer, HeaderMap, type HTTPGraphQLRequest } from '@apollo/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { FormattedExecutionResult } from 'graphql';
import { ProblemError, type ProblemSummary } from '../errors/errors';
import type { OperationRequest } from '../graphql/context';
import type { Documents } from '../graphql/documents';
import { SUBSCRIPTIONS } from '../graphql/executor';
import { prefersPage, responseType, statusFor } from './graphql-media-types';
import { normalizeParameters, type Parameters, parametersInUrl } from './graphql-parameters';
import { acceptJsonBodies, acceptTextBodies } from './json-body';
import type { WebSockets } from './live/websockets';
import type { CreateGraphQLOperationRequest } from './operation-request';
import type { Page } from './portal';
import type { RequestsInProgress } from './requests-in-progress';
import { GRAPHQL_PATH } from './urls';

const NOT_ACCEPTABLE = `Responses are application/json or application/graphql-response+json. ${SUBSCRIPTIONS}`;

interface GraphQLRouteOptions {
  readonly apollo: ApolloServer<OperationRequest>;
  readonly documents: Documents;
  /** The page that a browser gets at `/graphql`. */
  readonly sandbox: Page;
  readonly websockets: WebSockets;
  readonly requests: RequestsInProgress;
  readonly createGraphQLOperationRequest: CreateGraphQLOperationRequest;
}

/**
 * Serves `/graphql`. POST runs any operation. GET runs queries, sends browsers a page, and upgrades to WebSocket. Apollo
 * Server reads every operation over HTTP; graphql/apollo.ts replaces its validation and execution.
 */
export async function graphqlRoute(app: FastifyInstance, options: GraphQLRouteOptions): Promise<void> {
  const { apollo, documents, websockets, requests, sandbox, createGraphQLOperationRequest } = options;
  acceptJsonBodies(app, requests);
  // An HTML form on any site can send a `text/plain` body. The body is accepted as text, so that Apollo's CSRF prevention
  // rejects the request.
  acceptTextBodies(app, 'text/plain');

  async function run(request: FastifyRequest, reply: FastifyReply) {
    const { accept } = request.headers;
    const type = responseType(accept);
    // The `Accept` header is checked here, because Apollo would reject it only after running the operation.
    if (!type) throw new ProblemError('NOT_ACCEPTABLE', NOT_ACCEPTABLE);
    const given = request.method === 'POST' ? request.body : parametersInUrl(request.query as Parameters);
    const parameters = isObject(given) ? normalizeParameters(given, documents) : given;
    const text = isObject(parameters) && parameters.query;
    if (typeof text === 'string' && !documents.has(text)) {
      const { caller, deadline, meter } = request;
      await documents.admitUnknown(text, { callerId: caller.id, address: caller.address, deadline }, meter);
    }
    const { status, headers, body } = await apollo.executeHTTPGraphQLRequest({
      httpGraphQLRequest: asApolloReads(request, parameters),
      context: async () => createGraphQLOperationRequest(request),
    });
    // Only @defer and @stream produce responses in several parts, and the schema has neither directive.
    if (body.kind === 'chunked') throw new Error('Apollo responds in parts');
    for (const [name, value] of headers) reply.header(name, value);
    if (status === 405) reply.header('allow', 'POST');
    reply.header('content-type', type).code(statusFor(accept, status ?? 200, body.string));
    const hasRun = request.observer?.label !== undefined;
    // The promise of this function stays in memory until the response is sent, so it must not resolve to the text.
    if (hasRun || !body.string.startsWith('{"errors"')) return reply.send(body.string);
    const rejection = JSON.parse(body.string) as FormattedExecutionResult;
    return reply.send(JSON.stringify(asRejection(rejection, request)));
  }

  const config = { logName: 'graphql' };
  // A banned caller gets the page, and may upgrade: `connection_init` may contain a key.
  const ignoresBan = (request: FastifyRequest) => prefersPage(request.headers.accept) || websockets.isUpgrade(request);
  app.get(GRAPHQL_PATH, { config: { ...config, ignoresBan } }, (request, reply: FastifyReply) => {
    if (websockets.isUpgrade(request)) return websockets.accept(request, reply);
    if (prefersPage(request.headers.accept)) return sandbox.send(reply);
    return run(request, reply);
  });
  app.post(GRAPHQL_PATH, { config }, run);
}

/**
 * Converts the request to the form that Apollo Server takes. A GET request becomes a POST request: the executor rejects
 * mutations by GET, and GET needs no CSRF prevention. No request has credentials that a page of another site could make a
 * browser send, and GET runs only queries.
 * @param sent the parameters, with the text of the document even if the client sent an id.
 */
function asApolloReads(request: FastifyRequest, sent: unknown): HTTPGraphQLRequest {
  const headers = new HeaderMap();
  for (const [name, value] of Object.entries(request.headers)) {
    // Omits `Accept`. Otherwise Apollo Server would negotiate the media type again for each request.
    if (value && name !== 'accept') headers.set(name, String(value));
  }
  if (request.method !== 'POST') headers.set('apollo-require-preflight', 'true');
  return { method: 'POST', headers, search: '', body: sent };
}

/** Adds the request id to the errors of a request that Apollo Server rejected, and records the first error for the log. */
function asRejection(body: FormattedExecutionResult, request: FastifyRequest): FormattedExecutionResult {
  const { id: requestId } = request;
  const errors = body.errors?.map((error) => ({ ...error, extensions: { ...error.extensions, requestId } }));
  request.rejection = body.errors?.[0]?.extensions as ProblemSummary | undefined;
  return { ...body, errors };
}

function isObject(value: unknown): value is Parameters {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
