import type { IncomingHttpHeaders } from 'node:http';
import type { ApolloServer } from '@apollo/server';
import { fastifyApolloHandler } from '@as-integrations/fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { DocumentNode, FormattedExecutionResult } from 'graphql';
import type { Context } from '../graphql/context';
import { withText } from '../graphql/document-ids';
import { ProblemError } from '../graphql/errors';
import type { OperationRunner } from '../graphql/executor';
import { idempotencyHeaders } from '../graphql/idempotency-headers';
import type { KnownDocuments } from '../graphql/known-documents';
import { textOf } from '../graphql/row-text';
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

const NOT_ACCEPTABLE = 'Answers are application/json or application/graphql-response+json.';

export interface GraphQLRouteOptions {
  readonly apollo: ApolloServer<Context>;
  readonly executor: OperationRunner;
  readonly documents: KnownDocuments;
  /** What a browser gets. */
  readonly sandbox: Page;
  readonly upgrades: Upgrades;
  readonly websockets: WebSockets;
  contextOf(request: FastifyRequest): Context;
}

/**
 * `POST /graphql`, and `GET /graphql` for queries, for browsers and to change to WebSocket. A plain request for a document
 * that is known goes to the executor at once; everything else goes through Apollo, which ends at the same executor.
 */
export async function graphqlRoute(app: FastifyInstance, options: GraphQLRouteOptions): Promise<void> {
  const { apollo, executor, documents, upgrades, websockets, sandbox } = options;
  const contextOf = (request: FastifyRequest) => withIdempotencyKey(options.contextOf(request), request);
  acceptJsonBodies(app);
  // What a form on any page can send is Apollo's to refuse (CSRF prevention).
  app.addContentTypeParser('text/plain', { parseAs: 'string' }, (_request, text, done) => done(null, text));
  const throughApollo = fastifyApolloHandler(apollo, { context: async (request) => contextOf(request) });

  /** Apollo knows no HEAD, and no request id for what it refuses by itself. */
  async function byApollo(
    this: FastifyInstance,
    request: FastifyRequest,
    reply: FastifyReply,
    body = request.body,
  ) {
    // Apollo would find out when it has run the operation.
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
    const context = contextOf(request);
    const outcome = await executor.run(document, operationName, variables, context);
    reply.code(statusFor(request.headers.accept, outcome.status, outcome.body)).header('content-type', type);
    if (context.notice) reply.headers(context.notice.headers);
    if (outcome.replayed !== undefined) reply.headers(idempotencyHeaders(outcome));
    return textOf(outcome.body);
  });
  answerOtherMethods(app, GRAPHQL_PATH, ['GET', 'HEAD', 'POST']);
}

/** The request with HEAD as GET, and with the text of the document that it names. */
function asApolloReads(request: FastifyRequest, body: unknown, documents: KnownDocuments): FastifyRequest {
  const own: PropertyDescriptorMap = {
    // It makes a URL of this, and what comes as `Host` may be none.
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
 * Whether a browser may have sent it, which could be doing so for a page of another site: Apollo then asks for a header
 * that such a page cannot send. Browsers say where a request comes from (Fetch Metadata), and nobody else has cookies.
 */
function isFromBrowser({ headers }: FastifyRequest): boolean {
  return Boolean(headers['sec-fetch-site'] ?? headers.origin ?? headers.referer ?? headers.cookie);
}

/** @param answer the JSON of a body. */
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
  /** The media type of the answer. */
  type: string;
}

/** What most requests are: a known document, sent as JSON, without anything that Apollo would have to decide. */
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
