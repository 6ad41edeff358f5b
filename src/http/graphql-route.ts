import { type ApolloServer, HeaderMap, type HTTPGraphQLRequest } from '@apollo/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { FormattedExecutionResult } from 'graphql';
import { ProblemError, type Told } from '../errors/errors';
import type { OperationRequest } from '../graphql/context';
import { withText } from '../graphql/document-ids';
import type { Executor } from '../graphql/executor';
import { headersOf, IDEMPOTENCY_KEY } from '../graphql/idempotency';
import { serialize } from '../graphql/json-text';
import type { KnownDocuments } from '../graphql/known-documents';
import { GRAPHQL_PATH } from './error-handling';
import { prefersPage, responseType, statusFor } from './graphql-media-types';
import { acceptJsonBodies } from './json-body';
import { knownRequest } from './known-request';
import type { WebSockets } from './live/websockets';
import { answerOtherMethods } from './other-methods';
import type { Page } from './portal';

const NOT_ACCEPTABLE = 'Responses are application/json or application/graphql-response+json.';

export interface GraphQLRouteOptions {
  readonly apollo: ApolloServer<OperationRequest>;
  readonly executor: Executor;
  readonly documents: KnownDocuments;
  /** The page for browsers. */
  readonly sandbox: Page;
  readonly websockets: WebSockets;
  requestOf(request: FastifyRequest): OperationRequest;
}

/**
 * `POST /graphql`, and `GET /graphql` for queries, for browsers and for WebSocket upgrades. Whatever the form of a
 * request, if its document is known it goes straight to the executor. Everything else goes through Apollo, which reads,
 * refuses, registers and parses, and calls the same executor: its pipeline doubles what a small request costs
 * (bench/README.md, "The forms of a request").
 */
export async function graphqlRoute(app: FastifyInstance, options: GraphQLRouteOptions): Promise<void> {
  const { apollo, executor, documents, websockets, sandbox, requestOf } = options;
  acceptJsonBodies(app);
  // A form on any site can send this; Apollo refuses it (CSRF prevention).
  app.addContentTypeParser('text/plain', { parseAs: 'string' }, (_request, text, done) => done(null, text));

  async function run(request: FastifyRequest, reply: FastifyReply) {
    const { accept } = request.headers;
    const isPost = request.method === 'POST';
    const given = isPost ? request.body : request.query;
    const sent = isObject(given) ? withText(given, documents) : given;
    const type = responseType(accept);
    // Apollo would refuse it only after running the operation.
    if (!type) throw new ProblemError('NOT_ACCEPTABLE', NOT_ACCEPTABLE);
    // The text of a document is part of what an idempotency key stands for.
    const mayDiffer = request.headers[IDEMPOTENCY_KEY] === undefined;
    const isReadable = isObject(sent) && (isPost || isSafeGet(request));
    const known = isReadable ? knownRequest(sent, documents, !isPost, mayDiffer) : undefined;
    if (!known || !(isPost || executor.kindOf(known.document, known.operationName) === 'query'))
      return byApollo(request, reply, sent);
    const { document, operationName, variables, relocate } = known;
    const outcome = await executor.run(document, operationName, variables, requestOf(request));
    reply.code(statusFor(accept, outcome.status, outcome.body)).header('content-type', type);
    reply.headers(headersOf(outcome));
    return serialize(relocate ? relocate(outcome.body) : outcome.body);
  }

  /** Runs the request through Apollo, which puts no request id on its own errors. */
  async function byApollo(request: FastifyRequest, reply: FastifyReply, sent: unknown) {
    const { status, headers, body } = await apollo.executeHTTPGraphQLRequest({
      httpGraphQLRequest: asApolloReads(request, sent),
      context: async () => requestOf(request),
    });
    // Only @defer and @stream, which the schema does not have, make an answer of several parts.
    if (body.kind === 'chunked') throw new Error('Apollo answers in parts');
    for (const [name, value] of headers) reply.header(name, value);
    reply.code(statusFor(request.headers.accept, status ?? 200, body.string));
    return request.observation?.operation ? body.string : asRefusal(body.string, request);
  }

  const config = { operation: 'graphql' };
  app.get(GRAPHQL_PATH, { config }, (request, reply: FastifyReply) => {
    if (websockets.isUpgrade(request)) return websockets.accept(request, reply);
    if (prefersPage(request.headers.accept)) return sandbox.send(reply);
    return run(request, reply);
  });
  app.post(GRAPHQL_PATH, { config }, run);
  answerOtherMethods(app, GRAPHQL_PATH, ['GET', 'HEAD', 'POST']);
}

/** The request with HEAD as GET, and with the text of a document that it names by id. @param sent its parameters. */
function asApolloReads(request: FastifyRequest, sent: unknown): HTTPGraphQLRequest {
  const isPost = request.method === 'POST';
  const headers = new HeaderMap();
  for (const [name, value] of Object.entries(request.headers)) if (value) headers.set(name, String(value));
  if (!isPost && !mayBeForged(request)) headers.set('apollo-require-preflight', 'true');
  const { search } = new URL(request.url, 'http://localhost');
  const isAsSent = isPost || sent === request.query;
  return {
    method: isPost ? 'POST' : 'GET',
    headers,
    search: isAsSent ? search : `?${new URLSearchParams(sent as Record<string, string>)}`,
    body: isPost ? sent : undefined,
  };
}

/**
 * Whether a page of another site may have made a browser send the GET request: Apollo then refuses it. Browsers say
 * where a request comes from (Fetch Metadata), and only they send cookies; such a page cannot set other headers.
 */
function mayBeForged({ headers }: FastifyRequest): boolean {
  const isFromBrowser = headers['sec-fetch-site'] ?? headers.origin ?? headers.referer ?? headers.cookie;
  return Boolean(isFromBrowser) && !ALLOWED_BY.some((name) => headers[name]);
}

/** Whether a GET request can be neither forged nor of a media type that Apollo refuses. */
function isSafeGet(request: FastifyRequest): boolean {
  const type = request.headers['content-type'] ?? 'application/json';
  return type.startsWith('application/json') && !mayBeForged(request);
}

/** Apollo's `requestHeaders` of CSRF prevention. */
const ALLOWED_BY = ['x-apollo-operation-name', 'apollo-require-preflight'];

/** Apollo's own errors, with the request id, which it does not know. @param answer the body as JSON text. */
function asRefusal(answer: string, request: FastifyRequest): string {
  if (!answer.startsWith('{"errors"')) return answer;
  const body = JSON.parse(answer) as FormattedExecutionResult;
  const { id: requestId } = request;
  const errors = body.errors?.map((error) => ({ ...error, extensions: { ...error.extensions, requestId } }));
  request.refusal = body.errors?.[0]?.extensions as Told | undefined;
  return JSON.stringify({ ...body, errors });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
