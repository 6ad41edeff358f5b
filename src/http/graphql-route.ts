import type { IncomingHttpHeaders } from 'node:http';
import type { ApolloServer } from '@apollo/server';
import { fastifyApolloHandler } from '@as-integrations/fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { DocumentNode, FormattedExecutionResult } from 'graphql';
import type { OperationRequest } from '../graphql/context';
import { withText } from '../graphql/document-ids';
import { ProblemError } from '../graphql/errors';
import type { Executor } from '../graphql/executor';
import { headersOf } from '../graphql/idempotency-headers';
import { serialize } from '../graphql/json-text';
import type { KnownDocuments } from '../graphql/known-documents';
import type { Variables } from '../graphql/variables';
import { type Page, sendPage } from '../pages/page';
import { acceptJsonBodies } from '../rest/json-body';
import { answerOtherMethods } from '../rest/methods';
import { withIdempotencyKey } from './idempotency-key';
import { statusFor } from './legacy-status';
import { answerType, prefersPage } from './media-type';
import { GRAPHQL_PATH } from './paths';
import type { Upgrades } from './upgrades';
import type { WebSockets } from './websockets';

const NOT_ACCEPTABLE = 'Responses are application/json or application/graphql-response+json.';

export interface GraphQLRouteOptions {
  readonly apollo: ApolloServer<OperationRequest>;
  readonly executor: Executor;
  readonly documents: KnownDocuments;
  /** The page for browsers. */
  readonly sandbox: Page;
  readonly upgrades: Upgrades;
  readonly websockets: WebSockets;
  requestOf(request: FastifyRequest): OperationRequest;
}

/**
 * `POST /graphql`, and `GET /graphql` for queries, for browsers and for WebSocket upgrades. A plain request for a known
 * document goes straight to the executor; everything else goes through Apollo, which calls the same executor.
 */
export async function graphqlRoute(app: FastifyInstance, options: GraphQLRouteOptions): Promise<void> {
  const { apollo, executor, documents, upgrades, websockets, sandbox } = options;
  const requestOf = (request: FastifyRequest) => withIdempotencyKey(options.requestOf(request), request);
  acceptJsonBodies(app);
  // A form on any site can send this; Apollo refuses it (CSRF prevention).
  app.addContentTypeParser('text/plain', { parseAs: 'string' }, (_request, text, done) => done(null, text));
  const throughApollo = fastifyApolloHandler(apollo, { context: async (request) => requestOf(request) });

  /** Runs the request through Apollo, which knows no HEAD and puts no request id on its own errors. */
  async function byApollo(
    this: FastifyInstance,
    request: FastifyRequest,
    reply: FastifyReply,
    body = request.body,
  ) {
    // Apollo would refuse it only after running the operation.
    if (!answerType(request.headers.accept)) throw new ProblemError('NOT_ACCEPTABLE', NOT_ACCEPTABLE);
    const asked = asApolloReads(request, body, documents);
    const answer = await throughApollo.call(this, asked, reply);
    request.observation = asked.observation;
    if (typeof answer !== 'string' || !answer.startsWith('{')) return answer;
    reply.code(statusFor(request.headers.accept, reply.statusCode, answer));
    return request.observation?.operation ? answer : withRequestId(answer, request.id);
  }

  const config = { operation: 'graphql' };
  app.get(GRAPHQL_PATH, { config }, function (this: FastifyInstance, request, reply: FastifyReply) {
    const upgrade = upgrades.of(request.raw);
    if (upgrade) return websockets.accept(request, reply, upgrade);
    if (prefersPage(request.headers.accept)) return sendPage(reply, sandbox);
    if (!isFromBrowser(request)) request.headers['apollo-require-preflight'] = 'true';
    return byApollo.call(this, request, reply);
  });
  app.post(GRAPHQL_PATH, { config }, async function (this: FastifyInstance, request, reply: FastifyReply) {
    const body = isObject(request.body) ? withText(request.body, documents) : request.body;
    const known = plainRequest(request.headers, body, documents);
    if (!known) return byApollo.call(this, request, reply, body);
    const { document, operationName, variables, type } = known;
    const outcome = await executor.run(document, operationName, variables, requestOf(request));
    reply.code(statusFor(request.headers.accept, outcome.status, outcome.body)).header('content-type', type);
    reply.headers(headersOf(outcome));
    return serialize(outcome.body);
  });
  answerOtherMethods(app, GRAPHQL_PATH, ['GET', 'HEAD', 'POST']);
}

/** The request with HEAD as GET, and with the text of a document that it names by id. */
function asApolloReads(request: FastifyRequest, body: unknown, documents: KnownDocuments): FastifyRequest {
  const own: PropertyDescriptorMap = {
    // Apollo builds a URL from this, and the client's `Host` may not be valid in one.
    hostname: { value: 'localhost' },
    observation: { value: undefined, writable: true },
  };
  if (request.method === 'HEAD') own.method = { value: 'GET' };
  if (body !== request.body) own.body = { value: body };
  if (request.method !== 'POST') {
    const query = request.query as Record<string, unknown>;
    const spelled = withText(query, documents);
    if (spelled !== query)
      own.url = { value: `${GRAPHQL_PATH}?${new URLSearchParams(spelled as Record<string, string>)}` };
  }
  return Object.create(request, own);
}

/**
 * Whether a browser may have sent the request, possibly for a page of another site: Apollo then requires a header that
 * such a page cannot send. Browsers say where a request comes from (Fetch Metadata), and only they send cookies.
 */
function isFromBrowser({ headers }: FastifyRequest): boolean {
  return Boolean(headers['sec-fetch-site'] ?? headers.origin ?? headers.referer ?? headers.cookie);
}

/** @param answer the body as JSON text. */
function withRequestId(answer: string, requestId: string): string {
  if (!answer.startsWith('{"errors"')) return answer;
  const body = JSON.parse(answer) as FormattedExecutionResult;
  const errors = body.errors?.map((error) => ({ ...error, extensions: { ...error.extensions, requestId } }));
  return JSON.stringify({ ...body, errors });
}

interface PlainRequest {
  document: DocumentNode;
  operationName: string | undefined;
  variables: Variables;
  /** The media type of the response. */
  type: string;
}

/** Most requests are plain: a known document, sent as JSON, with nothing for Apollo to decide. */
function plainRequest(
  headers: IncomingHttpHeaders,
  body: unknown,
  documents: KnownDocuments,
): PlainRequest | undefined {
  const type = answerType(headers.accept);
  if (!type || headers['content-type'] !== 'application/json') return undefined;
  if (!isObject(body)) return undefined;
  const { query, operationName, variables, extensions } = body;
  if (typeof query !== 'string' || extensions !== undefined) return undefined;
  if (operationName != null && typeof operationName !== 'string') return undefined;
  if (variables != null && (typeof variables !== 'object' || Array.isArray(variables))) return undefined;
  const document = documents.find(query);
  if (!document) return undefined;
  return {
    type,
    document,
    operationName: operationName ?? undefined,
    variables: (variables ?? {}) as Variables,
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
